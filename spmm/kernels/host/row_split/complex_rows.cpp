#include <array>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/host_simd.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/host/row_split/columns.hpp>
#include <heddle/spmm/kernels/host/row_split/complex_rows.hpp>
#include <utility>

namespace heddle::detail {
namespace {

// Vectors of C that a row keeps in registers, twice: for the products with real and with imaginary
// parts.
constexpr int kMostVectors = kVectorBytes == 64 ? 8 : 4;

// Rows that a stripe of a wide block goes through before the next one.
constexpr Index kStripeRows = 64;

/// i x for the complex numbers x of which the vector holds the parts in turn.
template <class Vector>
[[gnu::always_inline]] inline Vector times_i(const Vector& x) noexcept {
  constexpr int kLanes = sizeof(Vector) / sizeof(x[0]);
  Vector turned;
  for (int lane = 0; lane < kLanes; lane += 2) {
    turned[lane] = -x[lane + 1];
    turned[lane + 1] = x[lane];
  }
  return turned;
}

/// a x for a complex number a.
template <class Vector, ComplexScalar T>
[[gnu::always_inline]] inline Vector times(T a, const Vector& x) noexcept {
  return a.imag() == 0 ? a.real() * x : a.real() * x + a.imag() * times_i(x);
}

/// Columns first … first + count − 1 of a product, as real columns.
template <ComplexScalar T>
struct Stripe {
  using Real = RealOf<T>;

  const SpmmProduct<T, HostSpace>& p;
  Index first;  // complex columns
  Index count;

  Index width() const noexcept { return 2 * count; }
  const Real* of(const T* block, Index ld, Index row) const noexcept {
    return reinterpret_cast<const Real*>(block + row * ld + first);
  }
  Real* of(T* block, Index ld, Index row) const noexcept {
    return reinterpret_cast<Real*>(block + row * ld + first);
  }
};

/// Ends row `row` of a product, of which `c` is α A B + β C.
template <ComplexScalar T, class Columns, class Vector, int V>
[[gnu::always_inline]] inline void finish(const Stripe<T>& stripe, Index row,
                                          const Columns& columns, Vector (&c)[V]) noexcept {
  const SpmmProduct<T, HostSpace>& p = stripe.p;
  const auto add = [&](T factor, const T* block, Index ld) {
    if (factor == T{0}) return;
    for (int v = 0; v < V; ++v) c[v] += times(factor, columns.load(stripe.of(block, ld, row), v));
  };
  add(p.gamma, p.B, p.ldb);
  add(p.delta, p.X, p.ldx);
  RealOf<T>* const to = stripe.of(p.C, p.ldc, row);
  for (int v = 0; v < V; ++v) columns.store(to, v, c[v]);
  if (p.eta == T{0}) return;
  // The vectors may overlap, so that all are read before any is stored.
  RealOf<T>* const Y = stripe.of(p.Y, p.ldy, row);
  for (int v = 0; v < V; ++v) c[v] = columns.load(Y, v) + times(p.eta, c[v]);
  for (int v = 0; v < V; ++v) columns.store(Y, v, c[v]);
}

template <ComplexScalar T, int W, int V>
void multiply_complex_rows(const Stripe<T>& stripe, Index begin, Index end) noexcept {
  using Real = RealOf<T>;
  using Vector = typename VectorOfLanes<Real, W>::Type;
  const SpmmProduct<T, HostSpace>& p = stripe.p;
  const Columns<Real, W, V> columns(stripe.width());
  for (Index row = begin; row < end; ++row) {
    Vector re[V] = {}, im[V] = {};
    for (Index k = p.A.row_offsets[row]; k < p.A.row_offsets[row + 1]; ++k) {
      const T a = p.A.values[k];
      const Real* const b = stripe.of(p.B, p.ldb, p.A.columns[k]);
      for (int v = 0; v < V; ++v) {
        const Vector bv = columns.load(b, v);
        re[v] += a.real() * bv;
        im[v] += a.imag() * bv;
      }
    }
    const Real* const old = stripe.of(p.C, p.ldc, row);
    for (int v = 0; v < V; ++v) {
      re[v] = times(p.alpha, Vector(re[v] + times_i(im[v])));
      if (p.beta != T{0}) re[v] += times(p.beta, columns.load(old, v));
    }
    finish(stripe, row, columns, re);
  }
}

template <ComplexScalar T>
using Rows = void (*)(const Stripe<T>&, Index, Index) noexcept;

template <ComplexScalar T, int W, int... V>
Rows<T> rows_of_lanes(Index width, std::integer_sequence<int, V...>) {
  static constexpr std::array<Rows<T>, sizeof...(V)> kTable = {
      multiply_complex_rows<T, W, V + 1>...};
  return kTable[static_cast<std::size_t>((width - 1) / W)];
}

/// The loops for blocks of `width` real columns.
template <ComplexScalar T, int W = static_cast<int>(kLanes<RealOf<T>>)>
Rows<T> rows_for(Index width) {
  if constexpr (W > 2) {
    if (width < W) return rows_for<T, W / 2>(width);
  }
  constexpr int kMost = W == kLanes<RealOf<T>> ? kMostVectors : 2;
  return rows_of_lanes<T, W>(width, std::make_integer_sequence<int, kMost>());
}

/// The columns of a block in stripes of about equal width, each with its loops.
template <ComplexScalar T>
std::vector<std::pair<Stripe<T>, Rows<T>>> stripes_of(const SpmmProduct<T, HostSpace>& p) {
  constexpr Index kMost = kMostVectors * kLanes<RealOf<T>> / 2;
  const Index count = (p.N + kMost - 1) / kMost;
  std::vector<std::pair<Stripe<T>, Rows<T>>> stripes;
  for (Index s = 0; s < count; ++s) {
    const Index first = s * p.N / count;
    const Stripe<T> stripe{p, first, (s + 1) * p.N / count - first};
    stripes.emplace_back(stripe, rows_for<T>(stripe.width()));
  }
  return stripes;
}

}  // namespace

template <Isa kVariant, ComplexScalar T>
void complex_rows_kernel(const SpmmProduct<T, HostSpace>& p, const std::vector<Index>& chunks,
                         int threads) {
  const auto stripes = stripes_of(p);
  const double blocks = static_cast<double>((p.A.rows + p.A.cols) * p.N) * sizeof(T);
  const double entries = static_cast<double>(p.A.nnz) * (sizeof(T) + sizeof(std::int32_t));
  const int team = team_size(threads, blocks + entries,
                             8 * static_cast<double>(p.A.nnz) * static_cast<double>(p.N));
  parallel_for(team, static_cast<Index>(chunks.size()) - 1, [&](Index c) {
    const Index end = chunks[static_cast<std::size_t>(c) + 1];
    const Index step = stripes.size() == 1 ? end : kStripeRows;
    for (Index first = chunks[static_cast<std::size_t>(c)]; first < end; first += step) {
      for (const auto& [stripe, rows] : stripes) rows(stripe, first, std::min(first + step, end));
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                               \
  template void complex_rows_kernel<kIsa>(const SpmmProduct<T, HostSpace>&, \
                                          const std::vector<Index>&, int);
HEDDLE_FOR_EACH_COMPLEX(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
