#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Row split by warps that broadcast: a warp takes a row and 32 columns of C, one per lane. The
/// lanes load 32 nonzeros of A together and hand them round by shuffles, so that every load is
/// coalesced. Source: Yang, Buluç, Owens, Design Principles for Sparse Matrix Multiplication on
/// the GPU, Euro-Par 2018, section 4.1.
///
/// Good for rows of about a multiple of 32 nonzeros and N a multiple of 32, below which lanes idle.
/// Reads A once per stripe of 32 columns. Deterministic.
struct RowBroadcastKernel {
  static constexpr KernelTraits kTraits = {
      .name = "row_broadcast",
      .description = "a warp per row and 32 columns of C, nonzeros handed round by shuffles",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
