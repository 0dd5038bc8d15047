#include <cub/block/block_reduce.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>
#include <utility>

namespace heddle::detail::cuda {
namespace {

/// rows[i] = targets[rows[i]].
__global__ void set_targets_kernel(const std::int32_t* targets, Index count, std::int32_t* rows) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count && rows[i] != kNoRow) rows[i] = targets[rows[i]];
}

/// The largest number of columns and of quads of a piece.
struct LargestPiece {
  std::int32_t columns;
  std::int32_t quads;
};

__global__ __launch_bounds__(kThreads) void largest_piece_kernel(const RowPiece* pieces,
                                                                 Index count,
                                                                 LargestPiece* largest) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ typename Reduce::TempStorage scratch;
  LargestPiece own{};
  for (Index k = threadIdx.x; k < count; k += kThreads) {
    own.columns = max(own.columns, pieces[k].columns);
    own.quads = max(own.quads, pieces[k].quads);
  }
  const auto larger = [](int a, int b) { return a > b ? a : b; };
  const int columns = Reduce(scratch).Reduce(own.columns, larger);
  __syncthreads();
  const int quads = Reduce(scratch).Reduce(own.quads, larger);
  if (threadIdx.x == 0) *largest = {columns, quads};
}

}  // namespace

template <class V>
template <class T>
RowBlocks<V>::RowBlocks(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                        const PieceLimits& limits) {
  if (A.rows == 0 || A.nnz == 0) return;
  const RowOrder order = order_rows(context, A, limits.rows);
  view_.rows_per_block = limits.rows;
  view_.blocks = order.blocks;
  BlockColumns blocks = block_columns(context, A, order, limits);
  rows_ = std::move(blocks.rows);
  columns_ = std::move(blocks.columns);
  first_piece_ = std::move(blocks.first_piece);
  pieces_ = std::move(blocks.pieces);
  view_.rows = rows_.data();
  view_.columns = columns_.data();
  view_.first_piece = first_piece_.data();
  view_.pieces = pieces_.data();
  store_entries(context, A);

  Buffer<LargestPiece, DeviceSpace> largest(context, 1);
  largest_piece_kernel<<<1, kThreads, 0, context.stream()>>>(pieces_.data(), pieces(),
                                                             largest.data());
  check_launch();
  LargestPiece sizes{};
  context.copy_to_host(&sizes, largest.data(), sizeof sizes);
  view_.most_columns = (sizes.columns + 3) / 4 * 4;
  view_.most_quads = sizes.quads;
}

template <class V>
void RowBlocks<V>::set_targets(CudaContext& context, const std::int32_t* targets) {
  const auto count = static_cast<Index>(rows_.size());
  if (count == 0) return;
  set_targets_kernel<<<blocks_for(count, kThreads), kThreads, 0, context.stream()>>>(targets, count,
                                                                                     rows_.data());
  check_launch();
}

#define HEDDLE_INSTANTIATE(V) template class RowBlocks<V>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#define HEDDLE_INSTANTIATE(T, V)                                                 \
  template RowBlocks<V>::RowBlocks(CudaContext&, const CsrView<T, DeviceSpace>&, \
                                   const PieceLimits&);
HEDDLE_FOR_EACH_STORED_VALUE(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
