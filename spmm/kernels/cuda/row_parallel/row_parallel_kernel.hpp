#pragma once

#include <heddle/spmm/kernels/cuda/narrow_copy.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Row split with several lane groups per row, `row_groups` of them: see `launch_row_split`.
///
/// Good for long rows, narrow blocks, and matrices of too few rows to fill the device.
struct RowParallelKernel {
  static constexpr KernelTraits kTraits = {
      .name = "row_parallel",
      .description = "several lane groups per row of C, which share the nonzeros of the row",
      .keeps = kNarrowCopy,
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
