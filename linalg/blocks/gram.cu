#include <cstdint>
#include <cstdlib>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/gram_tiles.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/block_checks.hpp>
#include <type_traits>

namespace heddle {
namespace {

/// sum += xᵀy for the tile's pieces of X and Y.
template <class Tile, class T>
__device__ void add_products(const T (&x)[Tile::kQuads][Tile::kRowUnits],
                             const T (&y)[Tile::kQuads][Tile::kColUnits],
                             double (&sum)[Tile::kRowUnits / 2][Tile::kColUnits][4]) {
#pragma unroll
  for (int q = 0; q < Tile::kQuads; q += 2) {
#pragma unroll
    for (int m = 0; m < Tile::kRowUnits / 2; ++m) {
      const double a[4] = {static_cast<double>(x[q][2 * m]), static_cast<double>(x[q][2 * m + 1]),
                           static_cast<double>(x[q + 1][2 * m]),
                           static_cast<double>(x[q + 1][2 * m + 1])};
#pragma unroll
      for (int n = 0; n < Tile::kColUnits; ++n) {
        const double b[2] = {static_cast<double>(y[q][n]), static_cast<double>(y[q + 1][n])};
        multiply_add_16x8x8(sum[m][n], a, b);
      }
    }
  }
}

/// sum ← a tile on the diagonal of XᵀX over `rows` rows, where consecutive pieces are `step` rows
/// apart. The next piece is loaded while the present one is multiplied.
template <class Tile, class T>
__device__ void sum_diagonal_tile(LaneRows<typename Tile::XColumns, T> X, Index rows, Index step,
                                  int lane,
                                  double (&sum)[Tile::kRowUnits / 2][Tile::kColUnits][4]) {
  T x[Tile::kQuads][Tile::kRowUnits];
  X.load(rows, lane, x);
#pragma unroll 1
  for (; rows > 0; rows -= step) {
    T next[Tile::kQuads][Tile::kRowUnits];
    X.advance(step);
    X.load(rows - step, lane, next);
    add_products<Tile>(x, x, sum);
    memcpy(x, next, sizeof(x));
  }
}

/// sum ← a tile of XᵀY in the same way. The next piece is not loaded ahead, because too few
/// registers are left.
template <class Tile, class T>
__device__ void sum_tile(LaneRows<typename Tile::XColumns, T> X,
                         LaneRows<typename Tile::YColumns, T> Y, Index rows, Index step, int lane,
                         double (&sum)[Tile::kRowUnits / 2][Tile::kColUnits][4]) {
#pragma unroll 1
  for (; rows > 0; rows -= step) {
    T x[Tile::kQuads][Tile::kRowUnits];
    T y[Tile::kQuads][Tile::kColUnits];
    X.load(rows, lane, x);
    Y.load(rows, lane, y);
    X.advance(step);
    Y.advance(step);
    add_products<Tile>(x, y, sum);
  }
}

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

/// partials[slab][tile] = the tile of XᵀY over the slab's rows, entries in the order of the lanes.
/// Thread block (x, y) of the grid computes `plan.tiles` tiles of slab y.
template <class Tile, bool kSymmetric, class T>
__global__ void __launch_bounds__(kThreads, 2)
    gram_kernel(DeviceSlabs slabs, GramPlan plan, Operand<T> X, Operand<T> Y, double* partials) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int tile = warp % plan.tiles;
  const int group = warp / plan.tiles;
  const int index = static_cast<int>(blockIdx.x) * plan.tiles + tile;
  const bool present = index < plan.tile_count();
  double sum[Tile::kRowUnits / 2][Tile::kColUnits][4] = {};
  if (present) {
    int row;
    int col;
    plan.locate(index, row, col);
    const Index end = min(slabs.rows, (blockIdx.y + Index{1}) * slabs.height);
    const Index first = blockIdx.y * slabs.height + group * Tile::kPieceRows;
    const Index step = plan.groups * Tile::kPieceRows;
    const LaneRows<typename Tile::XColumns, T> x(X, first, row * Tile::kHeight, lane);
    const LaneRows<typename Tile::YColumns, T> y(Y, first, col * Tile::kWidth, lane);
    if constexpr (kSymmetric) {
      if (row == col) {
        sum_diagonal_tile<Tile>(x, end - first, step, lane, sum);
      } else {
        sum_tile<Tile>(x, y, end - first, step, lane, sum);
      }
    } else {
      sum_tile<Tile>(x, y, end - first, step, lane, sum);
    }
  }
  store_total<Tile>(plan, tile, group, lane, present, &sum[0][0][0],
                    partials + (Index{blockIdx.y} * plan.tile_count() + index) * Tile::kEntries);
}

/// Thread blocks that are resident on a multiprocessor at once. On an H200, two reach 0.80 of the
/// copy bandwidth and four reach 0.75 (n = 10⁶, 20 columns).
constexpr Index kSlabsPerMultiprocessor = 2;
constexpr Index kMinSlabRows = 512;

/// Threads that share the sum of one entry over the slabs.
constexpr int kSumRows = 32;

/// The destination of [G H] = Xᵀ[Y Z], or of the transposes of G and H.
struct GramResult {
  double* G;
  Index G_ld;
  int split;  ///< columns of Y
  double* H;
  Index H_ld;
  bool transposed;

  __device__ void store(int i, int j, double entry) const {
    double* to = j < split ? G : H;
    const Index ld = j < split ? G_ld : H_ld;
    const int column = j < split ? j : j - split;
    to[transposed ? column + i * ld : i + column * ld] = entry;
  }
};

/// The a×b result = the sum of the slabs' partial tiles in a fixed order.
template <class Tile>
__global__ void sum_partials_kernel(int slab_count, GramPlan plan, const double* partials, int a,
                                    int b, GramResult result) {
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
  if (i >= a || j >= b || (plan.symmetric && i > j)) return;
  result.store(i, j, sums[0][lane]);
  if (plan.symmetric) result.store(j, i, sums[0][lane]);
}

template <class Tile, bool kSymmetric, class T>
void launch_gram(CudaContext& context, Operand<T> X, Operand<T> Y, Index rows,
                 const GramResult& result) {
  const GramPlan plan(X.cols, Y.cols, Tile::kHeight, Tile::kWidth, kSymmetric);
  const DeviceSlabs slabs =
      device_slabs(rows, kSlabsPerMultiprocessor * context.device().multiprocessors, kMinSlabRows);
  const auto slab_count = static_cast<unsigned>(slabs.count());
  const auto tile_count = static_cast<unsigned>(plan.tile_count());
  auto* partials = static_cast<double*>(
      context.scratch(sizeof(double) * slab_count * tile_count * Tile::kEntries));
  const dim3 grid(ceil_div(tile_count, static_cast<unsigned>(plan.tiles)), slab_count);
  const auto threads = static_cast<unsigned>(plan.tiles * plan.groups * kWarp);
  const std::size_t shared =
      plan.groups > 1 ? sizeof(double) * static_cast<std::size_t>(plan.tiles) * Tile::kEntries : 0;
  gram_kernel<Tile, kSymmetric>
      <<<grid, threads, shared, context.stream()>>>(slabs, plan, X, Y, partials);
  check_launch();
  sum_partials_kernel<Tile>
      <<<tile_count * Tile::kLaneEntries, dim3(kWarp, kSumRows), 0, context.stream()>>>(
          static_cast<int>(slab_count), plan, partials, X.cols, Y.cols, result);
  check_launch();
}

/// XᵀY for X at least as wide as Y, or for a Y of two blocks.
template <bool kPaired, class T>
void launch_rectangular(CudaContext& context, Operand<T> X, Operand<T> Y, Index rows,
                        const GramResult& result) {
  if (X.cols <= 16 && Y.cols <= 16) {
    launch_gram<GramTile<2, 2, 4, kPaired>, false>(context, X, Y, rows, result);
  } else if (Y.cols <= 8) {
    launch_gram<GramTile<6, 1, 2, kPaired>, false>(context, X, Y, rows, result);
  } else if (Y.cols <= 16) {
    launch_gram<GramTile<6, 2, 2, kPaired>, false>(context, X, Y, rows, result);
  } else {
    launch_gram<GramTile<4, 4, 2, kPaired>, false>(context, X, Y, rows, result);
  }
}

template <bool kPaired, class T>
void launch_symmetric(CudaContext& context, Operand<T> X, Index rows, const GramResult& result) {
  if (X.cols <= 16) {
    launch_gram<GramTile<2, 2, 4, kPaired>, true>(context, X, X, rows, result);
  } else {
    launch_gram<GramTile<4, 4, 2, kPaired>, true>(context, X, X, rows, result);
  }
}

template <class T>
Operand<T> operand(ConstBlockView<T, DeviceSpace> X) {
  const int cols = static_cast<int>(X.cols());
  return {X.data(), X.ld(), cols, cols, X.data()};
}

/// Whether two neighbouring entries can be loaded at once, from an even column on.
template <class T>
bool loads_pairs(const Operand<T>& X) {
  const auto aligned = [](const T* data) {
    return reinterpret_cast<std::uintptr_t>(data) % sizeof(Neighbours<T>) == 0;
  };
  return X.cols % 2 == 0 && X.split % 2 == 0 && X.ld % 2 == 0 && aligned(X.data) &&
         aligned(X.other);
}

template <class T>
void launch(CudaContext& context, const Operand<T>& X, const Operand<T>& Y, bool same, Index rows,
            const GramResult& result) {
  const auto with = [&](auto paired) {
    if (same) {
      launch_symmetric<paired()>(context, X, rows, result);
    } else {
      launch_rectangular<paired()>(context, X, Y, rows, result);
    }
  };
  if (loads_pairs(X) && loads_pairs(Y)) {
    with(std::true_type());
  } else {
    with(std::false_type());
  }
}

/// G(i, j) = G(j, i) for i > j.
__global__ void mirror_kernel(int order, double* G, Index ld) {
  const int j = static_cast<int>(blockIdx.x);
  for (int i = j + 1 + static_cast<int>(threadIdx.x); i < order; i += kThreads) {
    G[i + j * ld] = G[j + i * ld];
  }
}

/// XᵀY by cuBLAS, which reads a row-major block as its transpose. It is faster for wide G, because
/// all threads of a block share its tiles.
void launch_wide(CudaContext& context, ConstBlockView<double, DeviceSpace> X,
                 ConstBlockView<double, DeviceSpace> Y, bool same,
                 SmallView<double, DeviceSpace> G) {
  const double one = 1;
  const double zero = 0;
  check(cublasDgemm_64(context.cublas(), CUBLAS_OP_N, CUBLAS_OP_T, G.rows, G.cols, X.rows(), &one,
                       X.data(), X.ld(), Y.data(), Y.ld(), &zero, G.data, G.ld));
  if (!same) return;
  mirror_kernel<<<static_cast<unsigned>(G.rows), kThreads, 0, context.stream()>>>(
      static_cast<int>(G.rows), G.data, G.ld);
  check_launch();
}

/// Whether cuBLAS is the faster choice in double. Fractions of the copy bandwidth on an H200 for n
/// = 10⁶, cuBLAS against this kernel: 0.90 against 0.66 for 64×64, 0.79 against 0.66 for 96×32,
/// 0.61 against 0.85 for 48×16.
bool is_wide(Index a, Index b) {
  if (std::getenv("HEDDLE_OWN_GRAM") != nullptr) return false;
  const Index narrow = std::min(a, b);
  return narrow > 32 || (narrow > 16 && std::max(a, b) > 48);
}

}  // namespace

template <Scalar T>
void gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y,
          SmallView<double, DeviceSpace> G) {
  require_gram_shapes(X, Y, G);
  if (G.rows == 0 || G.cols == 0) return;
  const bool same = same_block(X, Y);
  const int rows = static_cast<int>(G.rows);
  const int cols = static_cast<int>(G.cols);
  const bool wide = std::same_as<T, double> && X.rows() > 0 && is_wide(G.rows, G.cols);
  if (wide) {
    if constexpr (std::same_as<T, double>) launch_wide(context, X, Y, same, G);
  } else if (X.cols() >= Y.cols()) {
    launch<T>(context, operand(X), operand(Y), same, X.rows(),
              {G.data, G.ld, cols, G.data, G.ld, false});
  } else {
    launch<T>(context, operand(Y), operand(X), false, X.rows(),
              {G.data, G.ld, rows, G.data, G.ld, true});
  }
  const double a = static_cast<double>(X.cols());
  const double b = static_cast<double>(Y.cols());
  const double entries = static_cast<double>(X.rows()) * a;
  context.profile().count(same ? bytes(X) : bytes(X) + bytes(Y),
                          same ? entries * (a + 1) : 2 * entries * b);
}

template <Scalar T>
void gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y,
          SmallView<double, DeviceSpace> G, ConstBlockView<T, DeviceSpace> Z,
          SmallView<double, DeviceSpace> H) {
  require_gram_shapes(X, Y, G);
  require_gram_shapes(X, Z, H);
  const Index cols = G.cols + H.cols;
  const bool wide = std::same_as<T, double> && X.rows() > 0 && is_wide(G.rows, cols);
  if (wide || G.cols == 0 || H.cols == 0 || Y.ld() != Z.ld()) {
    gram(context, X, Y, G);
    gram(context, X, Z, H);
    return;
  }
  const Operand<T> both{Y.data(), Y.ld(), static_cast<int>(cols), static_cast<int>(G.cols),
                        Z.data()};
  if (X.cols() > 0) {
    launch<T>(context, operand(X), both, false, X.rows(),
              {G.data, G.ld, both.split, H.data, H.ld, false});
  }
  context.profile().count(bytes(X) + bytes(Y) + bytes(Z),
                          2 * entries(X) * static_cast<double>(cols));
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void gram(CudaContext&, ConstBlockView<T, DeviceSpace>, ConstBlockView<T, DeviceSpace>, \
                     SmallView<double, DeviceSpace>);                                              \
  template void gram(CudaContext&, ConstBlockView<T, DeviceSpace>, ConstBlockView<T, DeviceSpace>, \
                     SmallView<double, DeviceSpace>, ConstBlockView<T, DeviceSpace>,               \
                     SmallView<double, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
