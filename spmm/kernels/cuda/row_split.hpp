#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::cuda {

/// Row split: each row of C belongs to N·sizeof(T)/16 lanes that load 16 bytes of a row of B each,
/// as many rows a block as fit; blocks of more columns than `most_lanes` (≤ 32) hold are done in
/// slabs of equal width. With `groups` = 1 one thread's chain of sums is a whole row (balanced
/// rows, sequential reduction, "RB_SR" in Huang et al. 2021). With more, so many lane groups take a
/// row's nonzeros in turn and add up by shuffles (balanced rows, parallel reduction, "RB_PR");
/// `groups` is rounded up to a power of two and down to what a warp holds.
///
/// Good for rows of similar length, a warp takes as long as its longest row; several groups for
/// long rows, narrow blocks, and matrices of too few rows to fill the device. Reads A and offsets
/// once a slab, B rows as often as neighbouring rows miss each other in L1. Deterministic. For a
/// `SpmmProduct` or a `GatheredProduct`.
template <class Product>
void launch_row_split(const Product& product, int groups, Index most_lanes, cudaStream_t stream);

}  // namespace heddle::cuda
