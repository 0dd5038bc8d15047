#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail {

/// `row_split` by a `RowSchedule` of the matrix.
struct RowSplitKernel {
  static constexpr KernelTraits kTraits = {
      .name = "row_split",
      .description = "rows dealt to the threads by nonzeros, vectorised over the columns of B",
      .keeps = "about 24 bytes per run of rows, kMaxStripe·sizeof(T) per part of a long row",
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<HostSpace> makers();
};

}  // namespace heddle::detail
