#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>
#include <limits>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kPairThreads = 64;

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

/// The device-wide algorithms of CUB are called twice: for the size of their scratch memory, and to
/// run.
template <class F>
void with_scratch(CudaContext& context, F&& f) {
  std::size_t bytes = 0;
  check(f(nullptr, bytes));
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  check(f(scratch.data(), bytes));
}

/// counts[i] becomes the sum of those before i. The last of `size` counts is ignored, and is the
/// total afterwards, which is returned.
Index sum_before(CudaContext& context, Buffer<Index, DeviceSpace>& counts) {
  const auto size = static_cast<Index>(counts.size());
  with_scratch(context, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, counts.data(), counts.data(), size,
                                         context.stream());
  });
  Index total = 0;
  context.copy_to_host(&total, counts.data() + size - 1, sizeof total);
  return total;
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
    Index next = min(at + limits.columns, end);
    const auto entries_before = [&](Index column) {
      return column < end ? entries[column] : segment[block + 1] - segment[block];
    };
    Index low = min(at + 1, end);  // the piece ends between low and next
    while (low < next) {
      const Index middle = (low + next + 1) / 2;
      if (entries_before(middle) - entries_before(at) <= limits.entries) {
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

/// The first of the ascending columns begin … end − 1 that is at least `column`.
__device__ Index lower_bound(const std::int32_t* columns, Index begin, Index end,
                             std::int32_t column) {
  while (begin < end) {
    const Index middle = (begin + end) / 2;
    if (columns[middle] < column) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// The entries of a row in a piece.
struct RowPart {
  Index begin;
  Index end;
};
template <class T>
__device__ RowPart part_of_row(const CsrView<T, DeviceSpace>& A, std::int32_t row,
                               const RowPiece& piece, const std::int32_t* columns) {
  if (row < 0 || piece.columns == 0) return {0, 0};
  const Index end = A.row_offsets[row + 1];
  const Index from = lower_bound(A.columns, A.row_offsets[row], end, columns[piece.first_column]);
  const std::int32_t last = columns[piece.first_column + piece.columns - 1];
  return {from, lower_bound(A.columns, from, end, last + 1)};
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

/// rows[i] = targets[rows[i]].
__global__ void set_targets_kernel(const std::int32_t* targets, Index count, std::int32_t* rows) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count && rows[i] != kNoRow) rows[i] = targets[rows[i]];
}

/// The entries of a pair of rows in a piece, merged by columns.
template <class T>
class PairMerge {
 public:
  /// The pair `pair` of the piece's block.
  template <class V>
  __device__ PairMerge(const CsrView<T, DeviceSpace>& A, const RowBlocksView<V>& blocks,
                       const RowPiece& piece, int pair)
      : columns_(A.columns) {
    const Index place = static_cast<Index>(piece.block) * blocks.rows_per_block + pair * kPairRows;
#pragma unroll
    for (int r = 0; r < kPairRows; ++r) {
      parts_[r] = part_of_row(A, blocks.rows[place + r], piece, blocks.columns);
    }
  }

  __device__ bool done() const {
    return parts_[0].begin == parts_[0].end && parts_[1].begin == parts_[1].end;
  }

  /// Takes the next column. entries[r] is row r's entry in it, or −1.
  __device__ std::int32_t take(Index (&entries)[kPairRows]) {
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    std::int32_t heads[kPairRows];
#pragma unroll
    for (int r = 0; r < kPairRows; ++r) {
      heads[r] = parts_[r].begin < parts_[r].end ? columns_[parts_[r].begin] : kNone;
    }
    const std::int32_t column = min(heads[0], heads[1]);
#pragma unroll
    for (int r = 0; r < kPairRows; ++r) entries[r] = heads[r] == column ? parts_[r].begin++ : -1;
    return column;
  }

 private:
  const std::int32_t* columns_;
  RowPart parts_[kPairRows];
};

/// The places of the pairs' quads in a piece and the piece's number of quads, a thread block per
/// piece and a thread per pair.
template <class T, class V>
__global__ __launch_bounds__(kPairThreads) void count_quads_kernel(CsrView<T, DeviceSpace> A,
                                                                   RowBlocksView<V> blocks,
                                                                   RowPiece* pieces,
                                                                   std::uint16_t* pair_quads,
                                                                   Index* quads) {
  using Scan = cub::BlockScan<int, kPairThreads>;
  __shared__ typename Scan::TempStorage scratch;
  RowPiece& piece = pieces[blockIdx.x];
  std::uint16_t* const own = pair_quads + static_cast<Index>(blockIdx.x) * blocks.quad_pitch();
  int before = 0;
  for (int chunk = 0; chunk < blocks.pairs(); chunk += kPairThreads) {
    const int pair = chunk + static_cast<int>(threadIdx.x);
    int columns = 0;
    if (pair < blocks.pairs()) {
      PairMerge<T> merge(A, blocks, piece, pair);
      for (Index entries[kPairRows]; !merge.done(); ++columns) merge.take(entries);
    }
    int own_before = 0;
    int all = 0;
    Scan(scratch).ExclusiveSum((columns + kQuad - 1) / kQuad, own_before, all);
    __syncthreads();
    if (pair < blocks.pairs()) own[pair] = static_cast<std::uint16_t>(before + own_before);
    before += all;
  }
  for (int r = blocks.pairs() + static_cast<int>(threadIdx.x); r < blocks.quad_pitch();
       r += kPairThreads) {
    own[r] = static_cast<std::uint16_t>(before);
  }
  if (threadIdx.x == 0) {
    piece.quads = (before + 1) / 2 * 2;
    quads[blockIdx.x] = piece.quads;
  }
}

/// Writes the values and places of a piece's entries, a thread block per piece and a thread per
/// pair.
template <class T, class V>
__global__ __launch_bounds__(kPairThreads) void fill_kernel(CsrView<T, DeviceSpace> A,
                                                            RowBlocksView<V> blocks,
                                                            const Index* first_quad,
                                                            RowPiece* pieces, V* values,
                                                            std::uint16_t* places) {
  const Index first = first_quad[blockIdx.x];
  const RowPiece piece = pieces[blockIdx.x];
  const std::uint16_t* const pair_quads =
      blocks.pair_quads + static_cast<Index>(blockIdx.x) * blocks.quad_pitch();
  for (int pair = static_cast<int>(threadIdx.x); pair < blocks.pairs(); pair += kPairThreads) {
    PairMerge<T> merge(A, blocks, piece, pair);
    const Index end = (first + pair_quads[pair + 1]) * kQuad;
    Index place = piece.first_column;
    for (Index k = (first + pair_quads[pair]) * kQuad; k < end; ++k) {
      Index entries[kPairRows] = {-1, -1};
      if (!merge.done()) {
        const std::int32_t column = merge.take(entries);
        place = lower_bound(blocks.columns, place, piece.first_column + piece.columns, column);
      }
      places[k] = static_cast<std::uint16_t>(place - piece.first_column);
#pragma unroll
      for (int r = 0; r < kPairRows; ++r) {
        values[k * kPairRows + r] = entries[r] >= 0 ? static_cast<V>(A.values[entries[r]]) : V{0};
      }
    }
  }
  // An odd number of quads is made even by one that no pair has.
  const Index used = (first + pair_quads[blocks.pairs()]) * kQuad;
  for (Index k = used + threadIdx.x; k < (first + piece.quads) * kQuad; k += kPairThreads) {
    places[k] = 0;
    for (int r = 0; r < kPairRows; ++r) values[k * kPairRows + r] = V{0};
  }
  if (threadIdx.x == 0) pieces[blockIdx.x].first_quad = first;
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

template <class T>
BlockEntries sort_entries(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                          const RowOrder& order) {
  cudaStream_t stream = context.stream();
  Buffer<Index, DeviceSpace> first(context, size_of(A.rows + 1));
  row_lengths_kernel<<<blocks_for(A.rows + 1, kThreads), kThreads, 0, stream>>>(
      A.row_offsets, order.rows.data(), A.rows, first.data());
  check_launch();
  sum_before(context, first);
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

template <class V>
template <class T>
RowBlocks<V>::RowBlocks(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                        const PieceLimits& limits) {
  if (A.rows == 0 || A.nnz == 0) return;
  const RowOrder order = order_rows(context, A, limits.rows);
  view_.rows_per_block = limits.rows;
  view_.blocks = order.blocks;
  const Index padded = order.blocks * limits.rows;
  rows_ = Buffer<std::int32_t, DeviceSpace>(context, size_of(padded));
  pad_rows_kernel<<<blocks_for(padded, kThreads), kThreads, 0, context.stream()>>>(
      order.rows.data(), order.begin.data(), order.blocks, limits.rows, rows_.data());
  check_launch();
  view_.rows = rows_.data();
  cut_into_pieces(context, sort_entries(context, A, order), limits);
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
void RowBlocks<V>::cut_into_pieces(CudaContext& context, const BlockEntries& all,
                                   const PieceLimits& limits) {
  cudaStream_t stream = context.stream();
  const Index blocks = view_.blocks;
  const auto grid = static_cast<unsigned>(blocks);
  Buffer<Index, DeviceSpace> first_column = zeros(context, blocks + 1);
  distinct_kernel<false><<<grid, kThreads, 0, stream>>>(all.ascending.data(), all.segment.data(),
                                                        first_column.data(), nullptr, nullptr);
  check_launch();
  columns_ = Buffer<std::int32_t, DeviceSpace>(context, size_of(sum_before(context, first_column)));
  Buffer<Index, DeviceSpace> entries(context, columns_.size());
  distinct_kernel<true><<<grid, kThreads, 0, stream>>>(all.ascending.data(), all.segment.data(),
                                                       first_column.data(), columns_.data(),
                                                       entries.data());
  check_launch();
  first_piece_ = zeros(context, blocks + 1);
  const auto cut = [&](auto kernel) {
    kernel<<<blocks_for(blocks, kThreads), kThreads, 0, stream>>>(
        limits, blocks, first_column.data(), entries.data(), all.segment.data(),
        first_piece_.data(), pieces_.data());
    check_launch();
  };
  cut(cut_kernel<false>);
  pieces_ = Buffer<RowPiece, DeviceSpace>(context, size_of(sum_before(context, first_piece_)));
  cut(cut_kernel<true>);
  view_.columns = columns_.data();
  view_.first_piece = first_piece_.data();
  view_.pieces = pieces_.data();
}

template <class V>
template <class T>
void RowBlocks<V>::store_entries(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  cudaStream_t stream = context.stream();
  const auto grid = static_cast<unsigned>(pieces());
  pair_quads_ = Buffer<std::uint16_t, DeviceSpace>(context, size_of(pieces() * view_.quad_pitch()));
  Buffer<Index, DeviceSpace> first_quad = zeros(context, pieces() + 1);
  count_quads_kernel<<<grid, kPairThreads, 0, stream>>>(A, view_, pieces_.data(),
                                                        pair_quads_.data(), first_quad.data());
  check_launch();
  view_.pair_quads = pair_quads_.data();
  const Index quads = sum_before(context, first_quad);
  values_ = Buffer<V, DeviceSpace>(context, size_of(quads * kQuadValues));
  places_ = Buffer<std::uint16_t, DeviceSpace>(context, size_of(quads * kQuad));
  fill_kernel<<<grid, kPairThreads, 0, stream>>>(A, view_, first_quad.data(), pieces_.data(),
                                                 values_.data(), places_.data());
  check_launch();
  view_.values = values_.data();
  view_.places = places_.data();
}

template <class V>
void RowBlocks<V>::set_targets(CudaContext& context, const std::int32_t* targets) {
  const auto count = static_cast<Index>(rows_.size());
  if (count == 0) return;
  set_targets_kernel<<<blocks_for(count, kThreads), kThreads, 0, context.stream()>>>(targets, count,
                                                                                     rows_.data());
  check_launch();
}

template class RowBlocks<float>;
template class RowBlocks<double>;
#define HEDDLE_INSTANTIATE(T, V)                                                 \
  template RowBlocks<V>::RowBlocks(CudaContext&, const CsrView<T, DeviceSpace>&, \
                                   const PieceLimits&);
HEDDLE_FOR_EACH_STORED_VALUE(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
