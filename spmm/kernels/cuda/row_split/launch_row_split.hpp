#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::detail::cuda {

/// Queues C = α A B + β C by row split: each row of C belongs to N·sizeof(T)/16 lanes that load 16
/// bytes of a row of B each. A block of threads takes as many rows as fit. Where N columns need
/// more than `most_lanes` (≤ 32) lanes, they are multiplied in stripes of equal width.
///
/// With `groups` = 1 one thread's chain of sums is a whole row (balanced rows, sequential
/// reduction, "RB_SR" in Huang et al. 2021). With more, so many lane groups take a row's nonzeros
/// in turn and add up by shuffles (balanced rows, parallel reduction, "RB_PR"). `groups` is rounded
/// up to a power of two and down to what a warp holds.
///
/// Reads A and offsets once per stripe, rows of B as often as neighbouring rows miss each other in
/// L1. Deterministic. `Product` is a `SpmmProduct` or a `GatheredProduct`.
template <class Product>
void launch_row_split(CudaContext& context, const Product& product, int groups, Index most_lanes);

}  // namespace heddle::detail::cuda
