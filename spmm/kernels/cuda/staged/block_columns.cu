#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/staged/block_columns.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kWarps = kThreads / kWarpSize;

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

/// The entries of all blocks of rows: block b has segment[b] … segment[b + 1] − 1 of the ascending
/// columns.
struct BlockEntries {
  Buffer<Index, DeviceSpace> segment;
  Buffer<std::int32_t, DeviceSpace> ascending;
};

/// The device-wide algorithms of CUB are called twice: for the size of their scratch memory, and to
/// run.
template <class F>
void with_scratch(CudaContext& context, F&& f) {
  std::size_t bytes = 0;
  check(f(nullptr, bytes));
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  check(f(scratch.data(), bytes));
}

__global__ void row_lengths_kernel(const std::int64_t* row_offsets, const std::int32_t* rows,
                                   Index count, Index* lengths) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) lengths[i] = row_offsets[rows[i] + 1] - row_offsets[rows[i]];
  if (i == count) lengths[i] = 0;
}

/// gathered[first[i] …] = the columns of row rows[i], a warp per row.
__global__ void gather_columns_kernel(const std::int64_t* row_offsets, const std::int32_t* columns,
                                      const std::int32_t* rows, Index count, const Index* first,
                                      std::int32_t* gathered) {
  const Index i = static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (i >= count) return;
  const Index begin = row_offsets[rows[i]];
  const Index length = row_offsets[rows[i] + 1] - begin;
  for (Index k = threadIdx.x % kWarpSize; k < length; k += kWarpSize) {
    gathered[first[i] + k] = columns[begin + k];
  }
}

/// segment[b] = the first entry of block b.
__global__ void segments_kernel(const Index* block_begin, Index count, const Index* first,
                                Index* segment) {
  const Index b = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (b < count) segment[b] = first[block_begin[b]];
}

/// The distinct columns of a block from its ascending ones, a thread block per block. Counts them,
/// or writes them from `first[block]` on with their first entry in the block.
template <bool kWrite>
__global__ __launch_bounds__(kThreads) void distinct_kernel(const std::int32_t* ascending,
                                                            const Index* segment, Index* first,
                                                            std::int32_t* columns, Index* entries) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  const Index block = blockIdx.x;
  const Index begin = segment[block];
  const Index end = segment[block + 1];
  Index distinct = kWrite ? first[block] : 0;
  for (Index chunk = begin; chunk < end; chunk += kThreads) {
    const Index k = chunk + threadIdx.x;
    const int is_first = k < end && (k == begin || ascending[k] != ascending[k - 1]) ? 1 : 0;
    int before = 0;
    int all = 0;
    Scan(scratch).ExclusiveSum(is_first, before, all);
    __syncthreads();
    if (kWrite && is_first != 0) {
      columns[distinct + before] = ascending[k];
      entries[distinct + before] = k - begin;
    }
    distinct += all;
  }
  if (!kWrite && threadIdx.x == 0) first[block] = distinct;
}

/// Cuts the columns of each block into pieces within the limits, a thread per block. Counts them,
/// or writes them from `first_piece[block]` on.
template <bool kWrite>
__global__ void cut_kernel(PieceLimits limits, Index blocks, const Index* first,
                           const Index* entries, const Index* segment, Index* first_piece,
                           RowPiece* pieces) {
  const Index block = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (block >= blocks) return;
  const Index end = first[block + 1];
  Index piece = kWrite ? first_piece[block] : 0;
  Index at = first[block];
  do {
    // The pieces that are left have equally many columns.
    const Index left = max((end - at + limits.columns - 1) / limits.columns, Index{1});
    Index next = at + (end - at + left - 1) / left;
    const auto entries_before = [&](Index column) {
      return column < end ? entries[column] : segment[block + 1] - segment[block];
    };
    const auto bytes_before = [&](Index column) {
      return (column - at) * limits.column_bytes +
             (entries_before(column) - entries_before(at)) * limits.entry_bytes;
    };
    Index low = min(at + 1, end);  // the piece ends between low and next
    while (low < next) {
      const Index middle = (low + next + 1) / 2;
      if (bytes_before(middle) <= limits.bytes) {
        low = middle;
      } else {
        next = middle - 1;
      }
    }
    if (kWrite) {
      pieces[piece] = {at,
                       0,
                       static_cast<std::int32_t>(next - at),
                       0,
                       static_cast<std::int32_t>(block),
                       next == end ? 1 : 0};
    }
    ++piece;
    at = next;
  } while (at < end);
  if (!kWrite) first_piece[block] = piece;
}

/// rows[R·b + r] = the r-th row of block b, or kNoRow.
__global__ void pad_rows_kernel(const std::int32_t* ordered, const Index* block_begin, Index blocks,
                                Index rows_per_block, std::int32_t* rows) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index block = i / rows_per_block;
  if (block >= blocks) return;
  const Index at = block_begin[block] + i % rows_per_block;
  rows[i] = at < block_begin[block + 1] ? ordered[at] : kNoRow;
}

template <class T>
BlockEntries sort_entries(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                          const RowOrder& order) {
  cudaStream_t stream = context.stream();
  Buffer<Index, DeviceSpace> first(context, size_of(A.rows + 1));
  row_lengths_kernel<<<blocks_for(A.rows + 1, kThreads), kThreads, 0, stream>>>(
      A.row_offsets, order.rows.data(), A.rows, first.data());
  check_launch();
  exclusive_sum(context, first.data(), A.rows + 1);
  Buffer<std::int32_t, DeviceSpace> gathered(context, size_of(A.nnz));
  gather_columns_kernel<<<blocks_for(A.rows, kWarps), kThreads, 0, stream>>>(
      A.row_offsets, A.columns, order.rows.data(), A.rows, first.data(), gathered.data());
  check_launch();
  BlockEntries entries{Buffer<Index, DeviceSpace>(context, size_of(order.blocks + 1)),
                       Buffer<std::int32_t, DeviceSpace>(context, size_of(A.nnz))};
  segments_kernel<<<blocks_for(order.blocks + 1, kThreads), kThreads, 0, stream>>>(
      order.begin.data(), order.blocks + 1, first.data(), entries.segment.data());
  check_launch();
  with_scratch(context, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::SortKeys(
        scratch, bytes, gathered.data(), entries.ascending.data(), A.nnz, order.blocks,
        entries.segment.data(), entries.segment.data() + 1, stream);
  });
  return entries;
}

Buffer<Index, DeviceSpace> zeros(CudaContext& context, Index size) {
  Buffer<Index, DeviceSpace> counts(context, size_of(size));
  check(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(Index), context.stream()));
  return counts;
}

}  // namespace

template <class T>
BlockColumns block_columns(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                           const RowOrder& order, const PieceLimits& limits) {
  const BlockEntries all = sort_entries(context, A, order);
  cudaStream_t stream = context.stream();
  const Index blocks = order.blocks;
  BlockColumns result;
  const Index padded = blocks * limits.rows;
  result.rows = Buffer<std::int32_t, DeviceSpace>(context, size_of(padded));
  pad_rows_kernel<<<blocks_for(padded, kThreads), kThreads, 0, stream>>>(
      order.rows.data(), order.begin.data(), blocks, limits.rows, result.rows.data());
  check_launch();
  const auto grid = static_cast<unsigned>(blocks);
  Buffer<Index, DeviceSpace> first_column = zeros(context, blocks + 1);
  distinct_kernel<false><<<grid, kThreads, 0, stream>>>(all.ascending.data(), all.segment.data(),
                                                        first_column.data(), nullptr, nullptr);
  check_launch();
  result.columns = Buffer<std::int32_t, DeviceSpace>(
      context, size_of(exclusive_sum(context, first_column.data(), blocks + 1)));
  Buffer<Index, DeviceSpace> entries(context, result.columns.size());
  distinct_kernel<true><<<grid, kThreads, 0, stream>>>(all.ascending.data(), all.segment.data(),
                                                       first_column.data(), result.columns.data(),
                                                       entries.data());
  check_launch();
  result.first_piece = zeros(context, blocks + 1);
  const auto cut = [&](auto kernel) {
    kernel<<<blocks_for(blocks, kThreads), kThreads, 0, stream>>>(
        limits, blocks, first_column.data(), entries.data(), all.segment.data(),
        result.first_piece.data(), result.pieces.data());
    check_launch();
  };
  cut(cut_kernel<false>);
  result.pieces = Buffer<RowPiece, DeviceSpace>(
      context, size_of(exclusive_sum(context, result.first_piece.data(), blocks + 1)));
  cut(cut_kernel<true>);
  return result;
}

#define HEDDLE_INSTANTIATE(T)                                                       \
  template BlockColumns block_columns(CudaContext&, const CsrView<T, DeviceSpace>&, \
                                      const RowOrder&, const PieceLimits&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
