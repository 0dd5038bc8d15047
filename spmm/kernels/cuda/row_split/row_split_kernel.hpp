#pragma once

#include <heddle/spmm/kernels/cuda/narrow_copy.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Row split with one lane group per row: see `launch_row_split` with one group.
///
/// Good for rows of similar length, because a warp takes as long as its longest row.
struct RowSplitKernel {
  static constexpr KernelTraits kTraits = {
      .name = "row_split",
      .description = "a lane group per row of C, each lane some neighbouring columns",
      .keeps = kNarrowCopy,
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
