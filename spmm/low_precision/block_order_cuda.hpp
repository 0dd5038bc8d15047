#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/model/linear_time.hpp>
#include <heddle/spmm/reorder/block_order.hpp>

/// The order of a matrix for products on the tensor cores of this GPU.
namespace heddle {

/// SMaT's model of `LowPrecisionPlan<V, CudaContext>` with N columns in V, fitted to products with
/// 5 thousand to 74 thousand blocks on this GPU: seconds per block, and per product. `gathered`:
/// rows of B are not neighbours, because A's columns have another order. It is measured at the
/// first call per type, N up to the next slab, and kind of GPU in this process; this takes some
/// milliseconds. V is `Half`, `Bfloat16` or `Tf32`. Throws as the plan does.
template <class V>
LinearTime measured_block_time(CudaContext& context, HostContext& host, Index N, bool gathered);

/// `best_order_for_blocks` by these times, for blocks as the plan has them.
template <class V>
BlockOrdering fastest_block_order(CudaContext& context, HostContext& host, const RowPattern& A,
                                  Index N);

}  // namespace heddle
