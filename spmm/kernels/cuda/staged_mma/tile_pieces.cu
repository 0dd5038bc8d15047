#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/panel_mma/fill_tiles.cuh>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_part.cuh>
#include <heddle/spmm/kernels/cuda/staged_mma/tile_pieces.hpp>

namespace heddle::detail::cuda {
namespace {

/// A thread block per piece, a lane per row.
constexpr int kThreads = kTileBlockRows;

/// The most distinct columns and entries of a piece: two thread blocks or more fit on a
/// multiprocessor.
constexpr int kPieceColumns = 256;
constexpr int kPieceEntries = 4096;

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

template <class U>
__host__ __device__ constexpr U rounded_up(U n, U unit) {
  return (n + unit - 1) / unit * unit;
}

/// The largest sizes of a piece.
struct LargestPiece {
  int columns;
  int tiles;
  int values;
};

/// The entries of this thread's row in the thread block's piece.
template <class T, class V>
__device__ RowPart own_part(const CsrView<T, DeviceSpace>& A, const TilePiecesView<V>& pieces) {
  const RowPiece& piece = pieces.pieces[blockIdx.x];
  const std::int32_t row =
      pieces.rows[static_cast<Index>(piece.block) * kTileBlockRows + threadIdx.x];
  return part_of_row(A, row, piece, pieces.columns);
}

/// The number of tiles of the panel of a warp's lanes.
__device__ int count_tiles(ColumnMerge merge) {
  int columns = 0;
  for (;;) {
    const std::int32_t column = merge.next();
    if (!__any_sync(kFullWarp, column != ColumnMerge::kNone)) break;
    if (column != ColumnMerge::kNone) ++columns;
    merge.take(column);
  }
  return (columns + kTileColumns - 1) / kTileColumns;
}

/// The sum of `own` over the lanes of a panel.
__device__ int sum_of_panel(int own) {
#pragma unroll
  for (int step = kPanelRows / 2; step > 0; step /= 2) {
    own += __shfl_xor_sync(kFullWarp, own, step, kPanelRows);
  }
  return own;
}

/// The sizes of the pieces. The numbers of tiles and values of each piece are also stored in
/// `tiles` and `values`, whose exclusive sums are the pieces' first tiles and values.
template <class T, class V>
__global__ __launch_bounds__(kThreads) void count_kernel(CsrView<T, DeviceSpace> A,
                                                         TilePiecesView<V> pieces,
                                                         PieceTiles* piece_tiles, Index* tiles,
                                                         Index* values, LargestPiece* largest) {
  __shared__ int panel_tiles[kBlockPanels];
  __shared__ int panel_values[kBlockPanels];
  const RowPart part = own_part(A, pieces);
  const int own_tiles = count_tiles(ColumnMerge(A.columns, part.begin, part.end));
  const int own_values = sum_of_panel(static_cast<int>(part.end - part.begin));
  const int panel = static_cast<int>(threadIdx.x) / kPanelRows;
  if (threadIdx.x % kPanelRows == 0) {
    panel_tiles[panel] = own_tiles;
    panel_values[panel] = own_values;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  PieceTiles piece{};
  for (int t = 0; t < kBlockPanels; ++t) {
    piece.panel_tiles[t + 1] = static_cast<std::uint16_t>(piece.panel_tiles[t] + panel_tiles[t]);
    piece.values += panel_values[t];
  }
  piece.tiles = rounded_up<int>(piece.panel_tiles[kBlockPanels], 2);
  piece.values = rounded_up<int>(piece.values, kVectorWidth<V>);
  piece_tiles[blockIdx.x] = piece;
  tiles[blockIdx.x] = piece.tiles;
  values[blockIdx.x] = piece.values;
  atomicMax(&largest->columns, pieces.pieces[blockIdx.x].columns);
  atomicMax(&largest->tiles, piece.tiles);
  atomicMax(&largest->values, piece.values);
}

template <class T, class V>
__global__ __launch_bounds__(kThreads) void fill_kernel(
    CsrView<T, DeviceSpace> A, TilePiecesView<V> pieces, const Index* first_tile,
    const Index* first_value, PieceTiles* piece_tiles, TileHeader* headers, std::uint16_t* places,
    V* values) {
  __shared__ int panel_values[kBlockPanels];
  const RowPiece& piece = pieces.pieces[blockIdx.x];
  PieceTiles& own = piece_tiles[blockIdx.x];
  const Index tile = first_tile[blockIdx.x];
  const Index value = first_value[blockIdx.x];
  const RowPart part = own_part(A, pieces);
  const int panel = static_cast<int>(threadIdx.x) / kPanelRows;
  const int entries = sum_of_panel(static_cast<int>(part.end - part.begin));
  if (threadIdx.x % kPanelRows == 0) panel_values[panel] = entries;
  __syncthreads();
  std::uint32_t offset = 0;
  for (int t = 0; t < panel; ++t) offset += static_cast<std::uint32_t>(panel_values[t]);
  ColumnMerge merge(A.columns, part.begin, part.end);
  Index place = piece.first_column;
  fill_tiles(
      merge, tile + own.panel_tiles[panel], offset, A.values, headers, values + value,
      [&](Index at, int k, std::int32_t column) {
        place = lower_bound(pieces.columns, place, piece.first_column + piece.columns, column);
        places[at * kTileColumns + k] = static_cast<std::uint16_t>(place - piece.first_column);
      });
  if (threadIdx.x > 0) return;
  own.first_tile = tile;
  own.first_value = value;
}

}  // namespace

template <class V>
template <class T>
TilePieces<V>::TilePieces(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  if (A.rows == 0 || A.nnz == 0) return;
  const RowOrder order = order_rows(context, A, kTileBlockRows);
  blocks_ = block_columns(context, A, order, {kTileBlockRows, kPieceColumns, kPieceEntries});
  view_.blocks = order.blocks;
  view_.rows = blocks_.rows.data();
  view_.first_piece = blocks_.first_piece.data();
  view_.pieces = blocks_.pieces.data();
  view_.columns = blocks_.columns.data();

  const auto count = static_cast<Index>(blocks_.pieces.size());
  const auto grid = static_cast<unsigned>(count);
  tiles_ = Buffer<PieceTiles, DeviceSpace>(context, size_of(count));
  Buffer<Index, DeviceSpace> first_tile(context, size_of(count + 1));
  Buffer<Index, DeviceSpace> first_value(context, size_of(count + 1));
  Buffer<LargestPiece, DeviceSpace> largest(context, 1);
  check(cudaMemsetAsync(largest.data(), 0, sizeof(LargestPiece), context.stream()));
  count_kernel<<<grid, kThreads, 0, context.stream()>>>(A, view_, tiles_.data(), first_tile.data(),
                                                        first_value.data(), largest.data());
  check_launch();
  const auto sum_of = [&](Buffer<Index, DeviceSpace>& sizes) {
    check(cudaMemsetAsync(sizes.data() + count, 0, sizeof(Index), context.stream()));
    return size_of(exclusive_sum(context, sizes.data(), count + 1));
  };
  headers_ = Buffer<TileHeader, DeviceSpace>(context, sum_of(first_tile));
  places_ = Buffer<std::uint16_t, DeviceSpace>(context, headers_.size() * kTileColumns);
  values_ = Buffer<V, DeviceSpace>(context, sum_of(first_value));
  LargestPiece sizes{};
  context.copy_to_host(&sizes, largest.data(), sizeof sizes);
  view_.most_columns = sizes.columns;
  view_.most_tiles = sizes.tiles;
  view_.most_values = sizes.values;
  fill_kernel<<<grid, kThreads, 0, context.stream()>>>(
      A, view_, first_tile.data(), first_value.data(), tiles_.data(), headers_.data(),
      places_.data(), values_.data());
  check_launch();
  view_.tiles = tiles_.data();
  view_.headers = headers_.data();
  view_.places = places_.data();
  view_.values = values_.data();
}

#define HEDDLE_INSTANTIATE(T, V) \
  template TilePieces<V>::TilePieces(CudaContext&, const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_STORED_VALUE(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
