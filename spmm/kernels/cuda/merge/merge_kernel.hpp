#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// `launch_merge` on stretches of equally many nonzeros.
///
/// Good for rows of very different lengths.
struct MergeKernel {
  static constexpr KernelTraits kTraits = {
      .name = "merge",
      .description = "equally many nonzeros per lane group, whatever rows they belong to",
      .keeps =
          "16 bytes per 16 to 128 nonzeros, carries of 2·N·sizeof(T) per 8 of those, 4·nnz "
          "where all values are exact in single precision",
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
