#pragma once

#include <heddle/spmm/kernels/cuda/narrow_copy.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Row split with A cached in shared memory: a block owns neighbouring rows, whose nonzeros lie
/// together in memory. Its threads load them in one coalesced stream, chunk by chunk, and the lane
/// group of every row reads its share from shared memory. Source: Huang, Dai, Wang, Ding, Xie,
/// Efficient Sparse Matrix Kernels based on Adaptive Workload-Balancing and Parallel-Reduction,
/// arXiv:2106.16064 (vectorised loads of the sparse rows under sequential reduction).
///
/// Suited to matrices whose columns and values take more traffic than rows of B. Reads A once per
/// stripe. Deterministic.
struct RowCachedKernel {
  static constexpr KernelTraits kTraits = {
      .name = "row_cached",
      .description = "as row_split, the rows of A read through shared memory",
      .keeps = kNarrowCopy,
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
