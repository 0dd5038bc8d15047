#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/gram_tiles.cuh>
#include <heddle/linalg/blocks/staged_gram.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/cuda_libraries.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/process_sums.hpp>

namespace heddle {
namespace {

/// A lane's entries X(t + 4q, g + 8u) of 4·kQuads rows by 8·kUnits columns of a block. Entries
/// outside of the block are 0.
template <int kQuads, int kUnits, class T>
__device__ void load_piece(const T* data, Index ld, int cols, Index rows, int lane,
                           T (&piece)[kQuads][kUnits]) {
  const int t = lane % 4;
  const int g = lane / 4;
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const bool inside = 4 * q + t < rows;
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      piece[q][u] = inside && g + 8 * u < cols ? data[(4 * q + t) * ld + g + 8 * u] : T{0};
    }
  }
}

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

/// A block operand in the form of a kernel argument.
template <class T>
struct Operand {
  const T* data;
  Index ld;
  int cols;

  __device__ Operand from(Index row, int column) const {
    return {data + row * ld + column, ld, cols - column};
  }
};

/// sum ← a tile on the diagonal of XᵀX over `rows` rows, where consecutive pieces are `step` rows
/// apart. The next piece is loaded while the present one is multiplied.
template <class Tile, class T>
__device__ void sum_diagonal_tile(Operand<T> X, Index rows, Index step, int lane,
                                  double (&sum)[Tile::kRowUnits / 2][Tile::kColUnits][4]) {
  T x[Tile::kQuads][Tile::kRowUnits];
  load_piece(X.data, X.ld, X.cols, rows, lane, x);
#pragma unroll 1
  for (; rows > 0; rows -= step) {
    T next[Tile::kQuads][Tile::kRowUnits];
    X.data += step * X.ld;
    load_piece(X.data, X.ld, X.cols, rows - step, lane, next);
    add_products<Tile>(x, x, sum);
    memcpy(x, next, sizeof(x));
  }
}

/// sum ← a tile of XᵀY in the same way. The next piece is not loaded ahead, because too few
/// registers are left.
template <class Tile, class T>
__device__ void sum_tile(Operand<T> X, Operand<T> Y, Index rows, Index step, int lane,
                         double (&sum)[Tile::kRowUnits / 2][Tile::kColUnits][4]) {
#pragma unroll 1
  for (; rows > 0; rows -= step) {
    T x[Tile::kQuads][Tile::kRowUnits];
    T y[Tile::kQuads][Tile::kColUnits];
    load_piece(X.data, X.ld, X.cols, rows, lane, x);
    load_piece(Y.data, Y.ld, Y.cols, rows, lane, y);
    X.data += step * X.ld;
    Y.data += step * Y.ld;
    add_products<Tile>(x, y, sum);
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
    const Operand<T> x = X.from(first, row * Tile::kHeight);
    const Operand<T> y = Y.from(first, col * Tile::kWidth);
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

/// Bytes moved: X and Y are read once each, and only once altogether if they are the same block.
template <class Tile, bool kSymmetric, class T>
void launch_gram(CudaContext& context, Operand<T> X, Operand<T> Y, Index rows, bool transposed,
                 SmallView<double, DeviceSpace> G) {
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
  launch_sum_partials<Tile>(context, slab_count, plan, partials,
                            {X.cols, Y.cols, Y.cols, transposed, G.data, G.ld, G.data, G.ld});
}

/// XᵀY for X at least as wide as Y.
template <class T>
void launch_rectangular(CudaContext& context, Operand<T> X, Operand<T> Y, Index rows,
                        bool transposed, SmallView<double, DeviceSpace> G) {
  if (X.cols <= 16) {
    launch_gram<GramTile<2, 2, 4>, false>(context, X, Y, rows, transposed, G);
  } else if (Y.cols <= 8) {
    launch_gram<GramTile<6, 1, 2>, false>(context, X, Y, rows, transposed, G);
  } else if (Y.cols <= 16) {
    launch_gram<GramTile<6, 2, 2>, false>(context, X, Y, rows, transposed, G);
  } else {
    launch_gram<GramTile<4, 4, 2>, false>(context, X, Y, rows, transposed, G);
  }
}

template <class T>
void launch_symmetric(CudaContext& context, Operand<T> X, Index rows,
                      SmallView<double, DeviceSpace> G) {
  if (X.cols <= 16) {
    launch_gram<GramTile<2, 2, 4>, true>(context, X, X, rows, false, G);
  } else {
    launch_gram<GramTile<4, 4, 2>, true>(context, X, X, rows, false, G);
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
  check(detail::cuda_libraries().cublasDgemm_64(context.cublas(), CUBLAS_OP_N, CUBLAS_OP_T, G.rows,
                                                G.cols, X.rows(), &one, X.data(), X.ld(), Y.data(),
                                                Y.ld(), &zero, G.data, G.ld));
  if (!same) return;
  mirror_kernel<<<static_cast<unsigned>(G.rows), kThreads, 0, context.stream()>>>(
      static_cast<int>(G.rows), G.data, G.ld);
  check_launch();
}

/// Whether cuBLAS is the faster choice in double. Fractions of the copy bandwidth on an H200 for n
/// = 10⁶, cuBLAS against this kernel: 0.90 against 0.66 for 64×64, 0.79 against 0.66 for 96×32,
/// 0.61 against 0.85 for 48×16.
bool is_wide(Index a, Index b) {
  const Index narrow = std::min(a, b);
  return narrow > 32 || (narrow > 16 && std::max(a, b) > 48);
}

/// G = XᵀY over the rows of this process.
template <RealScalar T>
void local_gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                ConstBlockView<T, DeviceSpace> Y, SmallView<double, DeviceSpace> G) {
  if (G.rows == 0 || G.cols == 0) return;
  const bool same = same_block(X, Y);
  const Operand<T> x{X.data(), X.ld(), static_cast<int>(X.cols())};
  const Operand<T> y{Y.data(), Y.ld(), static_cast<int>(Y.cols())};
  if (!staged_gram<T>(context, X, Y, G)) {
    const bool wide = std::same_as<T, double> && X.rows() > 0 && is_wide(G.rows, G.cols);
    if (wide) {
      if constexpr (std::same_as<T, double>) launch_wide(context, X, Y, same, G);
    } else if (same) {
      launch_symmetric(context, x, X.rows(), G);
    } else if (X.cols() >= Y.cols()) {
      launch_rectangular(context, x, y, X.rows(), false, G);
    } else {
      launch_rectangular(context, y, x, X.rows(), true, G);
    }
  }
  const double a = static_cast<double>(X.cols());
  const double b = static_cast<double>(Y.cols());
  const double rows = static_cast<double>(X.rows());
  context.profile().count(same ? bytes(X) : bytes(X) + bytes(Y),
                          same ? rows * a * (a + 1) : 2 * rows * a * b);
}

}  // namespace

template <RealScalar T>
void gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y,
          SmallView<double, DeviceSpace> G) {
  require_gram_shapes(X, Y, G);
  local_gram(context, X, Y, G);
  sum_over_processes(context, {G});
}

template <RealScalar T>
void gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y,
          SmallView<double, DeviceSpace> G, ConstBlockView<T, DeviceSpace> Z,
          SmallView<double, DeviceSpace> H) {
  require_gram_shapes(X, Y, G);
  require_gram_shapes(X, Z, H);
  if (staged_gram<T>(context, X, Y, G, Z, H)) {
    const double b = static_cast<double>(Y.cols() + Z.cols());
    context.profile().count(bytes(X) + bytes(Y) + bytes(Z), 2 * entries(X) * b);
  } else {
    local_gram(context, X, Y, G);
    local_gram(context, X, Z, H);
  }
  sum_over_processes(context, {G, H});
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void gram(CudaContext&, ConstBlockView<T, DeviceSpace>, ConstBlockView<T, DeviceSpace>, \
                     SmallView<double, DeviceSpace>);                                              \
  template void gram(CudaContext&, ConstBlockView<T, DeviceSpace>, ConstBlockView<T, DeviceSpace>, \
                     SmallView<double, DeviceSpace>, ConstBlockView<T, DeviceSpace>,               \
                     SmallView<double, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
