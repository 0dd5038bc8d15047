#include <array>
#include <heddle/linalg/block_checks.hpp>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/host_parallel.hpp>
#include <heddle/linalg/host_simd.hpp>
#include <utility>

namespace heddle {
namespace {

/// Rows of the operands converted to packed doubles at a time, sized to stay in the first two
/// levels of cache.
constexpr Index kPackBytes = 32 * 1024;
constexpr Index kMinPackRows = 64;
constexpr Index kMaxPackRows = 256;
constexpr Index kMinSlabRows = 512;

/// P[i, j] += Σ_r u[r, i] v[r, j] for kRows columns of u and kVectors vectors of columns of v.
template <int kRows, int kVectors>
void gram_tile(Index rows, const double* u, Index u_ld, const double* v, Index v_ld, double* P,
               Index P_ld) {
  Vector<double> sum[kRows][kVectors] = {};
  for (Index r = 0; r < rows; ++r, u += u_ld, v += v_ld) {
    Vector<double> v_row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) v_row[j] = load(v + j * kLanes<double>);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sum[i][j] += u[i] * v_row[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      double* p = P + i * P_ld + j * kLanes<double>;
      store<double>(p, load(p) + sum[i][j]);
    }
  }
}

using GramTile = void (*)(Index, const double*, Index, const double*, Index, double*, Index);

template <int... kIndex>
constexpr std::array<GramTile, sizeof...(kIndex)> gram_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {gram_tile<kIndex / kTileVectors + 1, kIndex % kTileVectors + 1>...};
}

/// gram_tile<r, v> is element (r − 1)·kTileVectors + v − 1.
constexpr auto kGramTiles = gram_tiles(std::make_integer_sequence<int, kTileRows * kTileVectors>());

/// P += UᵀV for packed rows of u (a columns) and v (whole vectors of columns); where `upper`, only
/// tiles that touch the upper triangle.
void gram_rows(Index rows, const double* u, Index a, Index u_ld, const double* v, Index v_ld,
               bool upper, double* P) {
  const Index vectors = v_ld / kLanes<double>;
  for (Index i = 0; i < a; i += kTileRows) {
    const Index tile_rows = std::min<Index>(kTileRows, a - i);
    Index first = upper ? i / kLanes<double> : 0;
    for (Index tiles = (vectors - first + kTileVectors - 1) / kTileVectors; tiles > 0; --tiles) {
      const Index width = (vectors - first + tiles - 1) / tiles;
      const Index column = first * kLanes<double>;
      kGramTiles[static_cast<std::size_t>((tile_rows - 1) * kTileVectors + width - 1)](
          rows, u + i, u_ld, v + column, v_ld, P + i * v_ld + column, v_ld);
      first += width;
    }
  }
}

/// Rows first … first + rows − 1 of X as doubles, zeros up to packed_ld.
template <Scalar T>
void pack(ConstBlockView<T, HostSpace> X, Index first, Index rows, double* packed,
          Index packed_ld) {
  for (Index r = 0; r < rows; ++r, packed += packed_ld) {
    const T* x = X.data() + (first + r) * X.ld();
    std::copy_n(x, X.cols(), packed);
    std::fill(packed + X.cols(), packed + packed_ld, 0.0);
  }
}

/// How the sums of one Gram matrix P = UᵀV are laid out in scratch memory.
struct GramPlan {
  Slabs slabs;
  Index u_ld;
  Index v_ld;
  Index pack_rows;
  Index partial_size;  ///< doubles of one slab's partial P
  Index pack_size;     ///< doubles of one thread's packed rows

  GramPlan(Index rows, Index a, Index b, bool symmetric)
      : slabs(make_slabs(rows, std::max({kMinSlabRows, 2 * a, 2 * b}))),
        u_ld(round_up_to_lanes<double>(a)),
        v_ld(round_up_to_lanes<double>(b)),
        pack_rows(std::clamp(
            kPackBytes / static_cast<Index>(sizeof(double)) / (symmetric ? v_ld : u_ld + v_ld),
            kMinPackRows, kMaxPackRows)),
        partial_size(a * v_ld),
        pack_size(pack_rows * (symmetric ? v_ld : u_ld + v_ld)) {}
};

/// partials + slab·partial_size ← the sum over the rows of each slab.
template <Scalar T>
void sum_slabs(const HostContext& context, const GramPlan& plan, ConstBlockView<T, HostSpace> U,
               ConstBlockView<T, HostSpace> V, bool symmetric, double* partials, double* packs) {
  parallel_for(context.threads(), plan.slabs.count(), [&](Index slab) {
    double* P = partials + slab * plan.partial_size;
    double* v = packs + omp_get_thread_num() * plan.pack_size;
    double* u = symmetric ? v : v + plan.pack_rows * plan.v_ld;
    std::fill_n(P, plan.partial_size, 0.0);
    const Index end = plan.slabs.end(slab);
    for (Index first = plan.slabs.begin(slab); first < end; first += plan.pack_rows) {
      const Index rows = std::min(plan.pack_rows, end - first);
      pack(V, first, rows, v, plan.v_ld);
      if (!symmetric) pack(U, first, rows, u, plan.u_ld);
      gram_rows(rows, u, U.cols(), plan.u_ld, v, plan.v_ld, symmetric, P);
    }
  });
}

/// Adds the partial sums up in the order of the slabs, into the first.
void reduce_slabs(const HostContext& context, const GramPlan& plan, Index a, double* partials) {
  parallel_for(context.threads(), a, [&](Index i) {
    double* sum = partials + i * plan.v_ld;
    for (Index slab = 1; slab < plan.slabs.count(); ++slab) {
      const double* part = sum + slab * plan.partial_size;
      for (Index j = 0; j < plan.v_ld; ++j) sum[j] += part[j];
    }
  });
}

}  // namespace

template <Scalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<HostSpace> G) {
  require_gram_shapes(X, Y, G);
  const bool symmetric = same_block<T>(X, Y);
  // The columns of V fill whole vectors, those of U need not: the side that wastes less is V.
  const bool swapped = Y.cols() * round_up_to_lanes<double>(X.cols()) <
                       X.cols() * round_up_to_lanes<double>(Y.cols());
  const auto U = swapped ? Y : X;
  const auto V = swapped ? X : Y;
  const GramPlan plan(X.rows(), U.cols(), V.cols(), symmetric);
  const Index partials_size = std::max<Index>(plan.slabs.count(), 1) * plan.partial_size;
  double* partials = static_cast<double*>(context.scratch(
      sizeof(double) *
      static_cast<std::size_t>(partials_size + context.threads() * plan.pack_size)));
  if (X.rows() == 0) std::fill_n(partials, plan.partial_size, 0.0);
  sum_slabs(context, plan, U, V, symmetric, partials, partials + partials_size);
  reduce_slabs(context, plan, U.cols(), partials);
  for (Index j = 0; j < G.cols; ++j) {
    for (Index i = 0; i < G.rows; ++i) {
      const bool transposed = swapped || (symmetric && i > j);
      G(i, j) = transposed ? partials[j * plan.v_ld + i] : partials[i * plan.v_ld + j];
    }
  }
  const double a = static_cast<double>(X.cols());
  context.profile().count(symmetric ? bytes(X) : bytes(X) + bytes(Y),
                          symmetric ? entries(X) * (a + 1) : 2 * a * entries(Y));
}

template void gram(HostContext&, ConstBlockView<float, HostSpace>, ConstBlockView<float, HostSpace>,
                   SmallView<HostSpace>);
template void gram(HostContext&, ConstBlockView<double, HostSpace>,
                   ConstBlockView<double, HostSpace>, SmallView<HostSpace>);

}  // namespace heddle
