#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/features/column_merge.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_part.cuh>
#include <heddle/spmm/kernels/cuda/staged/shared_memory.hpp>
#include <heddle/spmm/kernels/cuda/staged_mma/tile_pieces.hpp>

namespace heddle::detail::cuda {
namespace {

/// A thread block per piece, a lane per row.
constexpr int kThreads = kTileBlockRows;

using Merge = ColumnMerge<kTallRows>;

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

/// ⌈bytes / 16⌉
__host__ __device__ constexpr int vectors_of(int bytes) {
  return (bytes + kVectorBytes - 1) / kVectorBytes;
}

/// Where the tiles and the values of a piece begin in its part, in vectors of 16 bytes.
constexpr int kFirstTile = vectors_of(sizeof(PieceHead));
__device__ constexpr int first_value(int tiles) { return kFirstTile + tiles; }

/// A's part of a piece counts as long where it takes twice the memory of its rows of B in stripes
/// of so many bytes.
constexpr std::size_t kWideRowBytes = 256;

/// `TilePiecesView::stage_bytes`, as the device finds them.
struct LargestPiece {
  int stage_bytes[kStageVersions];
};

/// The entries of this thread's row in the thread block's piece.
template <class T>
__device__ RowPart own_part(const CsrView<T, DeviceSpace>& A, const TilePiecesView& pieces) {
  const RowPiece& piece = pieces.pieces[blockIdx.x];
  const std::int32_t row =
      pieces.rows[static_cast<Index>(piece.block) * kTileBlockRows + threadIdx.x];
  return part_of_row(A, row, piece, pieces.columns);
}

/// The number of tiles of the panel of a lane.
__device__ int count_tiles(Merge merge) {
  int columns = 0;
  for (;;) {
    const std::int32_t column = merge.next();
    if (!__any_sync(kFullWarp, column != Merge::kNone)) break;
    if (column != Merge::kNone) ++columns;
    merge.take(column);
  }
  return (columns + kTallColumns - 1) / kTallColumns;
}

/// The sum of `own` over the lanes of a panel.
__device__ int sum_of_panel(int own) {
#pragma unroll
  for (int step = kTallRows / 2; step > 0; step /= 2) {
    own += __shfl_xor_sync(kFullWarp, own, step, kTallRows);
  }
  return own;
}

/// The numbers of tiles and of values in front of each panel of the thread block's piece, and those
/// of all panels behind the last one.
struct PanelCounts {
  int tiles[kBlockPanels + 1];
  int values[kBlockPanels + 1];

  /// Takes the numbers of the lane's panel. All threads of the thread block take part.
  __device__ void count(int own_tiles, int own_values) {
    const int panel = static_cast<int>(threadIdx.x) / kTallRows;
    if (threadIdx.x % kTallRows == 0) {
      tiles[panel + 1] = own_tiles;
      values[panel + 1] = own_values;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      tiles[0] = 0;
      values[0] = 0;
      for (int t = 0; t < kBlockPanels; ++t) {
        tiles[t + 1] += tiles[t];
        values[t + 1] += values[t];
      }
    }
    __syncthreads();
  }
};

__device__ void count_panels(const std::int32_t* columns, const RowPart& part,
                             PanelCounts& counts) {
  const int tiles = count_tiles(Merge(columns, part.begin, part.end));
  counts.count(tiles, sum_of_panel(static_cast<int>(part.end - part.begin)));
}

/// vectors[i] = the size of A's part of piece i, whose exclusive sums are the parts' begins.
template <class T, class V>
__global__ __launch_bounds__(kThreads) void count_kernel(CsrView<T, DeviceSpace> A,
                                                         TilePiecesView pieces, Index* vectors,
                                                         LargestPiece* largest) {
  __shared__ PanelCounts counts;
  count_panels(A.columns, own_part(A, pieces), counts);
  if (threadIdx.x > 0) return;
  const int values = counts.values[kBlockPanels] * static_cast<int>(sizeof(V));
  const int own = first_value(counts.tiles[kBlockPanels]) + vectors_of(values);
  vectors[blockIdx.x] = own;
  const int columns = pieces.pieces[blockIdx.x].columns;
  for (int v = 0; v < kStageVersions; ++v) {
    atomicMax(&largest->stage_bytes[v], columns * stage_pitch(v) + own * kVectorBytes);
  }
}

/// Writes the tiles of a panel from the merged entries of its rows, a lane per row. `offset` is the
/// number of the panel's first value. `place_of(column)` is called for ascending columns.
template <class T, class V, class PlaceOf>
__device__ void fill_panel(Merge& merge, const T* values_of_A, std::uint32_t offset,
                           TallTile* tiles, V* values, PlaceOf&& place_of) {
  const int lane = threadIdx.x % kTallRows;
  std::uint8_t place = 0;
  for (;; ++tiles) {
    if (!__any_sync(kFullWarp, merge.next() != Merge::kNone)) break;
    const bool exists = merge.next() != Merge::kNone;
    const Index source = merge.position();
    TallTile tile{};
    std::uint32_t own = 0;  // bit k: this row has an entry in column k of the tile
    for (int k = 0; k < kTallColumns; ++k) {
      const std::int32_t column = merge.next();
      if (column != Merge::kNone) place = place_of(column);
      tile.places[k] = place;
      if (merge.take(column)) own |= 1u << k;
    }
    const int count = __popc(own);
    int before = count;
    constexpr int kHalf = kTallRows / 2;
    std::uint32_t half = own << (kTallColumns * (lane % kHalf));
#pragma unroll
    for (int step = 1; step < kTallRows; step *= 2) {
      const int other = __shfl_up_sync(kFullWarp, before, step, kTallRows);
      if (lane >= step) before += other;
      if (step < kHalf) half |= __shfl_xor_sync(kFullWarp, half, step, kTallRows);
    }
    before -= count;
    for (int h = 0; h < 2; ++h) {
      tile.present[h] = __shfl_sync(kFullWarp, half, h * kHalf, kTallRows);
    }
    tile.value = offset;
    if (exists && lane == 0) *tiles = tile;
    for (int k = 0; k < count; ++k) {
      values[offset + before + k] = static_cast<V>(__ldg(values_of_A + source + k));
    }
    offset += __popc(tile.present[0]) + __popc(tile.present[1]);
  }
}

template <class T, class V>
__global__ __launch_bounds__(kThreads) void fill_kernel(CsrView<T, DeviceSpace> A,
                                                        TilePiecesView pieces, uint4* parts) {
  __shared__ PanelCounts counts;
  const RowPiece& piece = pieces.pieces[blockIdx.x];
  const RowPart part = own_part(A, pieces);
  count_panels(A.columns, part, counts);
  const int panel = static_cast<int>(threadIdx.x) / kTallRows;
  uint4* const own = parts + pieces.part_begin[blockIdx.x];
  const int values = first_value(counts.tiles[kBlockPanels]);
  Merge merge(A.columns, part.begin, part.end);
  Index place = piece.first_column;
  fill_panel(merge, A.values, static_cast<std::uint32_t>(counts.values[panel]),
             reinterpret_cast<TallTile*>(own + kFirstTile) + counts.tiles[panel],
             reinterpret_cast<V*>(own + values), [&](std::int32_t column) {
               const Index end = piece.first_column + piece.columns;
               place = lower_bound(pieces.columns, place, end, column);
               return static_cast<std::uint8_t>(place - piece.first_column);
             });
  if (threadIdx.x > 0) return;
  PieceHead head{};
  const Index vectors = pieces.part_begin[blockIdx.x + 1] - pieces.part_begin[blockIdx.x];
  head.values = static_cast<std::uint32_t>(values * kVectorBytes);
  head.bytes = static_cast<std::uint32_t>(vectors * kVectorBytes);
  head.last = static_cast<std::uint16_t>(piece.last);
  for (int t = 0; t <= kBlockPanels; ++t) {
    head.panel_tiles[t] = static_cast<std::uint16_t>(counts.tiles[t]);
  }
  *reinterpret_cast<PieceHead*>(own) = head;
}

/// Two stages of each of three thread blocks with stripes of 128 bytes fit into shared memory, with
/// all panels in need of all columns in the worst case. With stripes of 256 bytes, two thread
/// blocks fit on Hopper, because a piece has so few columns, and one on devices with less memory.
PieceLimits piece_limits(const CudaContext& context) {
  constexpr int kThreadBlocks = 3;
  constexpr int kStripeOf128Bytes = 1;  // the version
  constexpr int kColumnTileBytes = kBlockPanels * static_cast<int>(sizeof(TallTile)) / kTallColumns;
  constexpr int kColumnBytes = stage_pitch(kStripeOf128Bytes) + kColumnTileBytes;
  constexpr int kEntryBytes = sizeof(double);
  constexpr int kOther = sizeof(PieceHead) + (kBlockPanels + 1) * kVectorBytes;
  const int own = static_cast<int>(shared_bytes_of(context, kThreadBlocks)) - kVectorBytes;
  return {kTileBlockRows, kTilePieceColumns, kColumnBytes, kEntryBytes,
          std::max(own / 2 - kOther, kColumnBytes + kTileBlockRows * kEntryBytes)};
}

}  // namespace

template <class V>
template <class T>
TilePieces<V>::TilePieces(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  if (A.rows == 0 || A.nnz == 0) return;
  const int rows = tile_block_rows(A.rows, context.device().multiprocessors);
  const RowOrder order = order_rows(context, A, rows, kTallRows);
  blocks_ = block_columns(context, A, order, piece_limits(context));
  view_.blocks = order.blocks;
  view_.rows = blocks_.rows.data();
  view_.first_piece = blocks_.first_piece.data();
  view_.pieces = blocks_.pieces.data();
  view_.columns = blocks_.columns.data();

  const auto count = static_cast<Index>(blocks_.pieces.size());
  const auto grid = static_cast<unsigned>(count);
  cudaStream_t stream = context.stream();
  part_begin_ = Buffer<Index, DeviceSpace>(context, size_of(count + 1));
  Buffer<LargestPiece, DeviceSpace> largest(context, 1);
  check(cudaMemsetAsync(largest.data(), 0, sizeof(LargestPiece), stream));
  check(cudaMemsetAsync(part_begin_.data() + count, 0, sizeof(Index), stream));
  count_kernel<T, V><<<grid, kThreads, 0, stream>>>(A, view_, part_begin_.data(), largest.data());
  check_launch();
  parts_ = Buffer<uint4, DeviceSpace>(
      context, size_of(exclusive_sum(context, part_begin_.data(), count + 1)));
  view_.part_begin = part_begin_.data();
  view_.parts = parts_.data();
  LargestPiece sizes{};
  context.copy_to_host(&sizes, largest.data(), sizeof sizes);
  std::copy_n(sizes.stage_bytes, kStageVersions, view_.stage_bytes);
  view_.long_parts = parts_.size() * kVectorBytes > 2 * blocks_.columns.size() * kWideRowBytes;
  fill_kernel<T, V><<<grid, kThreads, 0, stream>>>(A, view_, parts_.data());
  check_launch();
}

#define HEDDLE_INSTANTIATE(T, V) \
  template TilePieces<V>::TilePieces(CudaContext&, const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_STORED_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
