#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// `launch_merge` on stretches of equally many rows and nonzeros together.
///
/// Good for rows of very different lengths with many short or empty ones.
struct MergePathKernel {
  static constexpr KernelTraits kTraits = {
      .name = "merge_path",
      .description = "equally many rows and nonzeros per lane group",
      .keeps =
          "16 bytes per 16 to 128 rows and nonzeros, carries of N·sizeof(T) per 8 of those, "
          "4·nnz where all values are exact in single precision",
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
