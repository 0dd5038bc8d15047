#pragma once

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/kernel.cuh>

/// Shared by the kernels behind `gram`: the tiles of G = XᵀY, their distribution to warps, and the
/// sum of their parts.
namespace heddle {

/// The shape of the tiles of G = XᵀY, one tile per warp, and the number of rows that a warp loads
/// at once (a piece).
template <int kRowUnits_, int kColUnits_, int kQuads_>
struct GramTile {
  static constexpr int kRowUnits = kRowUnits_;  ///< columns of X in a tile, divided by 8
  static constexpr int kColUnits = kColUnits_;  ///< columns of Y in a tile, divided by 8
  static constexpr int kQuads = kQuads_;        ///< rows of a piece, divided by 4
  static constexpr int kHeight = 8 * kRowUnits;
  static constexpr int kWidth = 8 * kColUnits;
  static constexpr int kPieceRows = 4 * kQuads;
  static constexpr int kEntries = kHeight * kWidth;
  static constexpr int kLaneEntries = kEntries / kWarp;
  static_assert(kRowUnits % 2 == 0 && kQuads % 2 == 0,
                "the matrix units take 16 columns of X by 8 rows");

  /// Row and column, within the tile, of a lane's e-th entry.
  __device__ static int row(int e, int lane) {
    return e / (4 * kColUnits) * 16 + e / 2 % 2 * 8 + lane / 4;
  }
  __device__ static int column(int e, int lane) {
    return e / 4 % kColUnits * 8 + lane % 4 * 2 + e % 2;
  }
};

/// How the tiles of G are distributed: `tiles` warps of a thread block compute different tiles over
/// the same rows. A block has `groups` such teams of warps, each over different rows.
struct GramPlan {
  int row_tiles;
  int col_tiles;
  bool symmetric;  ///< only tiles of the upper triangle are computed, and tiles are square
  int tiles;
  int groups;

  static constexpr int kMaxWarps = 8;

  GramPlan(Index a, Index b, int height, int width, bool same)
      : row_tiles(static_cast<int>(ceil_div<Index>(a, height))),
        col_tiles(static_cast<int>(ceil_div<Index>(b, width))),
        symmetric(same),
        tiles(std::min(kMaxWarps, tile_count())),
        groups(kMaxWarps / tiles) {}

  __host__ __device__ int tile_count() const {
    return symmetric ? col_tiles * (col_tiles + 1) / 2 : row_tiles * col_tiles;
  }

  /// Row and column of tile `index` of G. Tiles are numbered column by column. In the symmetric
  /// case, a column ends at the diagonal.
  __device__ void locate(int index, int& row, int& col) const {
    for (col = 0;; ++col) {
      const int height = symmetric ? col + 1 : row_tiles;
      if (index < height) break;
      index -= height;
    }
    row = index;
  }
};

/// Adds the groups' sums in shared memory in the order of the groups, and stores the total.
template <class Tile>
__device__ void store_total(const GramPlan& plan, int tile, int group, int lane, bool present,
                            const double* sum, double* partial) {
  extern __shared__ double totals[];
  double* total = totals + tile * Tile::kEntries + lane;
  for (int turn = 0; turn + 1 < plan.groups; ++turn) {
    if (group == turn && present) {
#pragma unroll
      for (int e = 0; e < Tile::kLaneEntries; ++e) {
        total[e * kWarp] = turn == 0 ? sum[e] : total[e * kWarp] + sum[e];
      }
    }
    __syncthreads();
  }
  if (group + 1 < plan.groups || !present) return;
#pragma unroll
  for (int e = 0; e < Tile::kLaneEntries; ++e) {
    partial[e * kWarp + lane] = group == 0 ? sum[e] : total[e * kWarp] + sum[e];
  }
}

/// Threads that share the sum of one entry over the slabs.
constexpr int kSumRows = 32;

/// The destination of an a×b matrix of partial tiles: the columns of G and, from column `split` on,
/// those of H, or the transposes of both.
struct GramResult {
  int a;
  int b;
  int split;
  bool transposed;
  double* G;
  Index G_ld;
  double* H;
  Index H_ld;

  __device__ void store(int i, int j, double entry) const {
    double* to = j < split ? G : H;
    const Index ld = j < split ? G_ld : H_ld;
    const int column = j < split ? j : j - split;
    to[transposed ? column + i * ld : i + column * ld] = entry;
  }
};

/// The result = the sum of the slabs' partial tiles in a fixed order.
template <class Tile>
__global__ void sum_partials_kernel(int slab_count, GramPlan plan, const double* partials,
                                    GramResult result) {
  __shared__ double sums[kSumRows][kWarp];
  const int lane = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int tile = static_cast<int>(blockIdx.x) / Tile::kLaneEntries;
  const int e = static_cast<int>(blockIdx.x) % Tile::kLaneEntries;
  const Index stride = Index{plan.tile_count()} * Tile::kEntries;
  const double* entry = partials + Index{tile} * Tile::kEntries + e * kWarp + lane;
  double sum = 0;
#pragma unroll 8
  for (int slab = y; slab < slab_count; slab += kSumRows) sum += entry[slab * stride];
  sums[y][lane] = sum;
  for (int half = kSumRows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half) sums[y][lane] += sums[y + half][lane];
  }
  if (y > 0) return;
  int tile_row;
  int tile_col;
  plan.locate(tile, tile_row, tile_col);
  const int i = tile_row * Tile::kHeight + Tile::row(e, lane);
  const int j = tile_col * Tile::kWidth + Tile::column(e, lane);
  if (i >= result.a || j >= result.b || (plan.symmetric && i > j)) return;
  result.store(i, j, sums[0][lane]);
  if (plan.symmetric) result.store(j, i, sums[0][lane]);
}

/// Queues the sum of the partial tiles.
template <class Tile>
void launch_sum_partials(CudaContext& context, Index slab_count, const GramPlan& plan,
                         const double* partials, const GramResult& result) {
  const auto blocks = static_cast<unsigned>(plan.tile_count() * Tile::kLaneEntries);
  sum_partials_kernel<Tile><<<blocks, dim3(kWarp, kSumRows), 0, context.stream()>>>(
      static_cast<int>(slab_count), plan, partials, result);
  check_launch();
}

}  // namespace heddle
