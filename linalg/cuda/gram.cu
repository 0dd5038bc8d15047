#include <heddle/linalg/block_checks.hpp>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/cuda/check.hpp>
#include <heddle/linalg/cuda/kernel.cuh>
#include <heddle/linalg/cuda_context.hpp>

namespace heddle {
namespace {

/// The square tiles that G = XᵀY is cut into, one a warp, and the rows that a warp has in flight.
/// Small tiles keep more rows in flight, large ones read less often what they share.
template <int kUnits_, int kQuads_>
struct GramTile {
  static constexpr int kUnits = kUnits_;  ///< columns of X and of Y, in eights
  static constexpr int kQuads = kQuads_;  ///< rows in flight, in fours
  static constexpr int kWidth = 8 * kUnits;
  static constexpr int kEntries = kWidth * kWidth;
  static constexpr int kLaneEntries = kEntries / kWarp;
  static_assert(kUnits % 2 == 0 && kQuads % 2 == 0, "the matrix units take 16 columns by 8 rows");

  /// Row and column in the tile of a lane's e-th entry.
  __host__ __device__ static int row(int e, int lane) {
    return e / (4 * kUnits) * 16 + e / 2 % 2 * 8 + lane / 4;
  }
  __host__ __device__ static int column(int e, int lane) {
    return e / 4 % kUnits * 8 + lane % 4 * 2 + e % 2;
  }
};

/// Which tiles of G there are and how warps share them: `tiles` warps of a block side by side over
/// the same rows, `groups` such teams over different rows.
struct GramPlan {
  int row_tiles;
  int col_tiles;
  bool symmetric;  ///< only tiles of the upper triangle
  int tiles;
  int groups;

  static constexpr int kMaxWarps = 8;

  GramPlan(Index a, Index b, int width, bool same)
      : row_tiles(static_cast<int>(ceil_div<Index>(a, width))),
        col_tiles(static_cast<int>(ceil_div<Index>(b, width))),
        symmetric(same),
        tiles(std::min(kMaxWarps, tile_count())),
        groups(kMaxWarps / tiles) {}

  __host__ __device__ int tile_count() const {
    return symmetric ? col_tiles * (col_tiles + 1) / 2 : row_tiles * col_tiles;
  }

  /// Tile `index` of G, column by column; in the symmetric case each column ends at the diagonal.
  __device__ void locate(int index, int& row, int& col) const {
    for (col = 0;; ++col) {
      const int height = symmetric ? col + 1 : row_tiles;
      if (index < height) break;
      index -= height;
    }
    row = index;
  }
};

/// A lane's entries of a 4·kQuads × 8·kUnits piece of a block: X(t + 4q, g + 8u).
template <class Tile, class T>
__device__ void load_piece(const T* data, Index ld, int cols, Index rows, int lane,
                           T (&piece)[Tile::kQuads][Tile::kUnits]) {
  const int t = lane % 4;
  const int g = lane / 4;
#pragma unroll
  for (int q = 0; q < Tile::kQuads; ++q) {
    const bool inside = 4 * q + t < rows;
#pragma unroll
    for (int u = 0; u < Tile::kUnits; ++u) {
      piece[q][u] = inside && g + 8 * u < cols ? data[(4 * q + t) * ld + g + 8 * u] : T{0};
    }
  }
}

/// sum += xᵀy for a tile's pieces of X and Y.
template <class Tile, class T>
__device__ void add_products(const T (&x)[Tile::kQuads][Tile::kUnits],
                             const T (&y)[Tile::kQuads][Tile::kUnits],
                             double (&sum)[Tile::kUnits / 2][Tile::kUnits][4]) {
#pragma unroll
  for (int q = 0; q < Tile::kQuads; q += 2) {
#pragma unroll
    for (int m = 0; m < Tile::kUnits / 2; ++m) {
      const double a[4] = {static_cast<double>(x[q][2 * m]), static_cast<double>(x[q][2 * m + 1]),
                           static_cast<double>(x[q + 1][2 * m]),
                           static_cast<double>(x[q + 1][2 * m + 1])};
#pragma unroll
      for (int n = 0; n < Tile::kUnits; ++n) {
        const double b[2] = {static_cast<double>(y[q][n]), static_cast<double>(y[q + 1][n])};
        multiply_add_16x8x8(sum[m][n], a, b);
      }
    }
  }
}

/// Adds the groups' sums up in shared memory in the order of the groups, and stores the total.
template <class Tile>
__device__ void store_total(const GramPlan& plan, int tile, int group, int lane, bool present,
                            const double* sum, double* partial) {
  extern __shared__ double totals[];
  for (int turn = 0; turn + 1 < plan.groups; ++turn) {
    if (group == turn && present) {
      for (int e = 0; e < Tile::kLaneEntries; ++e) {
        double& total = totals[(tile * Tile::kLaneEntries + e) * kWarp + lane];
        total = turn == 0 ? sum[e] : total + sum[e];
      }
    }
    __syncthreads();
  }
  if (group + 1 < plan.groups || !present) return;
  for (int e = 0; e < Tile::kLaneEntries; ++e) {
    const double before = group == 0 ? 0 : totals[(tile * Tile::kLaneEntries + e) * kWarp + lane];
    partial[e * kWarp + lane] = before + sum[e];
  }
}

/// partials[slab][tile] = the tile of XᵀY over the slab's rows, in the order of lanes' entries.
/// Block x of the grid takes `plan.tiles` tiles, block y a slab.
template <class Tile, class T>
__global__ void __launch_bounds__(kThreads)
    gram_kernel(DeviceSlabs slabs, GramPlan plan, const T* X, Index X_ld, int a, const T* Y,
                Index Y_ld, int b, double* partials) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int tile = warp % plan.tiles;
  const int group = warp / plan.tiles;
  const int index = static_cast<int>(blockIdx.x) * plan.tiles + tile;
  const bool present = index < plan.tile_count();
  double sum[Tile::kUnits / 2][Tile::kUnits][4] = {};
  if (present) {
    int tile_row;
    int tile_col;
    plan.locate(index, tile_row, tile_col);
    const bool diagonal = plan.symmetric && tile_row == tile_col;
    const int first_x = tile_row * Tile::kWidth;
    const int first_y = tile_col * Tile::kWidth;
    const Index end = min(slabs.rows, (blockIdx.y + Index{1}) * slabs.height);
    for (Index i = blockIdx.y * slabs.height + group * (4 * Tile::kQuads); i < end;
         i += plan.groups * (4 * Tile::kQuads)) {
      T x[Tile::kQuads][Tile::kUnits];
      load_piece<Tile>(X + i * X_ld + first_x, X_ld, a - first_x, end - i, lane, x);
      if (diagonal) {
        add_products<Tile>(x, x, sum);
      } else {
        T y[Tile::kQuads][Tile::kUnits];
        load_piece<Tile>(Y + i * Y_ld + first_y, Y_ld, b - first_y, end - i, lane, y);
        add_products<Tile>(x, y, sum);
      }
    }
  }
  store_total<Tile>(plan, tile, group, lane, present, &sum[0][0][0],
                    partials + (Index{blockIdx.y} * plan.tile_count() + index) * Tile::kEntries);
}

constexpr int kSumRows = 16;

/// G = the sum of the slabs' partial tiles: kSumRows threads an entry, in a fixed order.
template <class Tile>
__global__ void sum_partials_kernel(int slab_count, GramPlan plan, const double* partials, int a,
                                    int b, double* G, Index G_ld) {
  __shared__ double sums[kSumRows][kWarp];
  const int lane = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int tile = static_cast<int>(blockIdx.x) / Tile::kLaneEntries;
  const int e = static_cast<int>(blockIdx.x) % Tile::kLaneEntries;
  const Index stride = Index{plan.tile_count()} * Tile::kEntries;
  const double* entry = partials + Index{tile} * Tile::kEntries + e * kWarp + lane;
  double sum = 0;
#pragma unroll 4
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
  const int i = tile_row * Tile::kWidth + Tile::row(e, lane);
  const int j = tile_col * Tile::kWidth + Tile::column(e, lane);
  if (i >= a || j >= b || (plan.symmetric && i > j)) return;
  G[i + j * G_ld] = sums[0][lane];
  if (plan.symmetric) G[j + i * G_ld] = sums[0][lane];
}

/// Bytes moved: X and Y once (once in all where they are the same block).
template <class Tile, class T>
void launch_gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 ConstBlockView<T, DeviceSpace> Y, bool same, SmallView<DeviceSpace> G) {
  const GramPlan plan(X.cols(), Y.cols(), Tile::kWidth, same);
  const DeviceSlabs slabs = device_slabs(X.rows());
  const auto slab_count = static_cast<unsigned>(slabs.count());
  const auto tile_count = static_cast<unsigned>(plan.tile_count());
  auto* partials = static_cast<double*>(
      context.scratch(sizeof(double) * slab_count * tile_count * Tile::kEntries));
  const int a = static_cast<int>(X.cols());
  const int b = static_cast<int>(Y.cols());
  const dim3 grid(ceil_div(tile_count, static_cast<unsigned>(plan.tiles)), slab_count);
  const auto threads = static_cast<unsigned>(plan.tiles * plan.groups * kWarp);
  const std::size_t shared =
      plan.groups > 1 ? sizeof(double) * static_cast<std::size_t>(plan.tiles) * Tile::kEntries : 0;
  gram_kernel<Tile, T><<<grid, threads, shared, context.stream()>>>(
      slabs, plan, X.data(), X.ld(), a, Y.data(), Y.ld(), b, partials);
  check_launch();
  sum_partials_kernel<Tile>
      <<<tile_count * Tile::kLaneEntries, dim3(kWarp, kSumRows), 0, context.stream()>>>(
          static_cast<int>(slab_count), plan, partials, a, b, G.data, G.ld);
  check_launch();
}

}  // namespace

template <Scalar T>
void gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y,
          SmallView<DeviceSpace> G) {
  require_gram_shapes(X, Y, G);
  if (G.rows == 0 || G.cols == 0) return;
  const bool same = same_block(X, Y);
  if (std::max(X.cols(), Y.cols()) <= 16) {
    launch_gram<GramTile<2, 8>>(context, X, Y, same, G);
  } else {
    launch_gram<GramTile<4, 4>>(context, X, Y, same, G);
  }
  const double a = static_cast<double>(X.cols());
  const double b = static_cast<double>(Y.cols());
  const double rows = static_cast<double>(X.rows());
  context.profile().count(same ? bytes(X) : bytes(X) + bytes(Y),
                          same ? rows * a * (a + 1) : 2 * rows * a * b);
}

template void gram(CudaContext&, ConstBlockView<float, DeviceSpace>,
                   ConstBlockView<float, DeviceSpace>, SmallView<DeviceSpace>);
template void gram(CudaContext&, ConstBlockView<double, DeviceSpace>,
                   ConstBlockView<double, DeviceSpace>, SmallView<DeviceSpace>);

}  // namespace heddle
