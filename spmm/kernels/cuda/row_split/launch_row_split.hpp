#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/cuda/row_split/long_rows.hpp>

namespace heddle::detail::cuda {

/// Queues the product by row split: each row of C is computed by N·sizeof(T)/16 lanes, each of
/// which loads 16 bytes of a row of B at once. A thread block takes as many rows as fit. If N
/// columns need more than `most_lanes` (≤ 32) lanes, they are processed in stripes of equal width.
///
/// With `groups` = 1, each thread sums a whole row sequentially (balanced rows, sequential
/// reduction, "RB_SR" in Huang et al. 2021). With more, this many lane groups take a row's nonzeros
/// cyclically and add their sums by shuffles (balanced rows, parallel reduction, "RB_PR"). `groups`
/// is rounded up to a power of two and limited to the groups that fit in a warp.
///
/// `long_rows`: rows that are left to the first thread blocks of the same launch, a warp per
/// segment. The rows in several segments are ended by `launch_add_parts`.
///
/// Reads A and the offsets once per stripe. Reads a row of B again whenever neighbouring rows do
/// not find it in L1. Deterministic. `Product` is a `SpmmProduct`, a
/// `GatheredProduct` or a `NarrowProduct`.
template <class Product>
void launch_row_split(CudaContext& context, const Product& product, int groups, Index most_lanes,
                      const LongRowsView<typename Product::Value>& long_rows = {});

}  // namespace heddle::detail::cuda
