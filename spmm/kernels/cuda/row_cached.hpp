#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::cuda {

/// Row split with A cached in shared memory: a block owns neighbouring rows, whose nonzeros lie
/// together in memory; its threads load them in one coalesced stream, chunk by chunk, and every
/// row's lane group reads its share from shared memory. Source: Huang, Dai, Wang, Ding, Xie,
/// Efficient Sparse Matrix Kernels based on Adaptive Workload-Balancing and Parallel-Reduction,
/// arXiv:2106.16064 (vectorised loads of the sparse rows under sequential reduction).
///
/// Good where columns and values of A weigh more than rows of B. Reads A once a slab.
/// Deterministic.
template <class T>
void launch_row_cached(const SpmmProduct<T>& product, cudaStream_t stream);

}  // namespace heddle::cuda
