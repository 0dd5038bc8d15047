#pragma once

#include <heddle/spmm/kernels/cuda/narrow_copy.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Row split with several lane groups per row, `row_groups` of them, and a warp per segment of rows
/// that are too long for these, `long_row_shape`: see `launch_row_split` and `LongRows`. Without
/// such rows it is one kernel, else the parts of rows in several segments are added by a second.
///
/// Good for long rows, narrow blocks, matrices of too few rows to fill the device, and few long
/// rows among short ones.
struct RowParallelKernel {
  static constexpr KernelTraits kTraits = {
      .name = "row_parallel",
      .description =
          "several lane groups per row of C, which share its nonzeros; long rows in segments",
      .keeps = kNarrowCopyAndSegments,
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
