#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/narrow/narrow.hpp>
#include <heddle/spmm/narrow/narrow_checks.hpp>
#include <utility>

namespace heddle {
namespace {

constexpr Index kLeastRows = 256;

/// factor·A with values of V.
template <class V, Scalar T>
HostCsrMatrix<float> rounded(HostContext& context, const CsrView<T, HostSpace>& A, double factor) {
  HostCsrMatrix<float> result(context, A.rows, A.cols, A.nnz);
  std::copy_n(A.row_offsets, A.rows + 1, result.row_offsets());
  std::copy_n(A.columns, A.nnz, result.columns());
  const auto round = [&](Index k) {
    return V::round(factor * static_cast<double>(A.values[k])).value();
  };
  const Slabs slabs = make_slabs(A.nnz, kLeastRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index k = slabs.begin(slab); k < slabs.end(slab); ++k) result.values()[k] = round(k);
  });
  const float* const end = result.values() + A.nnz;
  const float* const beyond = std::find_if_not(result.values(), const_cast<float*>(end),
                                               [](float v) { return std::isfinite(v); });
  if (beyond == end) return result;
  const Index k = beyond - result.values();
  const Index row =
      std::upper_bound(A.row_offsets, A.row_offsets + A.rows + 1, k) - A.row_offsets - 1;
  detail::refuse_entry(narrow_name<V>(), row, A.columns[k], static_cast<double>(A.values[k]));
}

/// y_ij = f(x_ij, j) for all entries.
template <class F>
void map(HostContext& context, const ConstBlockView<float, HostSpace>& X,
         const BlockView<float, HostSpace>& Y, const F& f) {
  const Slabs slabs = make_slabs(X.rows(), kLeastRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      for (Index j = 0; j < X.cols(); ++j) Y(i, j) = f(X(i, j), j);
    }
  });
}

}  // namespace

template <class V>
void narrow(HostContext& context, ConstBlockView<float, HostSpace> X,
            ConstSmallView<double, HostSpace> factors, NarrowView<V, HostSpace> Y) {
  map(context, X, Y,
      [&](float x, Index j) { return V::round(factors(j, 0) * static_cast<double>(x)).value(); });
}

template <class V>
void widen(HostContext& context, ConstNarrowView<V, HostSpace> X,
           ConstSmallView<double, HostSpace> factors, float beta, BlockView<float, HostSpace> Y) {
  const Slabs slabs = make_slabs(Y.rows(), kLeastRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      for (Index j = 0; j < Y.cols(); ++j) {
        const auto x = static_cast<float>(factors(j, 0) * static_cast<double>(X(i, j)));
        Y(i, j) = beta == 0 ? x : beta * Y(i, j) + x;
      }
    }
  });
}

template <class V>
template <Scalar T>
NarrowPlan<V, HostContext>::NarrowPlan(HostContext& context, CsrView<T, HostSpace> A, double factor)
    : A_(rounded<V>(context, A, factor)), plan_(context, std::as_const(A_).view()) {}

template <class V>
void NarrowPlan<V, HostContext>::multiply(HostContext& context, float alpha,
                                          ConstNarrowView<V, HostSpace> B,
                                          const NarrowTerms<V, HostSpace>& terms,
                                          NarrowView<V, HostSpace> C) const {
  detail::check_narrow_shapes<V, HostSpace>(A_.rows(), A_.cols(), B, terms, C);
  plan_.multiply(context, alpha, B,
                 {.beta = terms.beta, .gamma = terms.gamma, .delta = terms.delta, .X = terms.X}, C);
  map(context, C, C, [](float c, Index) { return V::round(static_cast<double>(c)).value(); });
}

#define HEDDLE_INSTANTIATE_FOR(V, T) \
  template NarrowPlan<V, HostContext>::NarrowPlan(HostContext&, CsrView<T, HostSpace>, double);
#define HEDDLE_INSTANTIATE(V)                                                                    \
  template void narrow<V>(HostContext&, ConstBlockView<float, HostSpace>,                        \
                          ConstSmallView<double, HostSpace>, NarrowView<V, HostSpace>);          \
  template void widen<V>(HostContext&, ConstNarrowView<V, HostSpace>,                            \
                         ConstSmallView<double, HostSpace>, float, BlockView<float, HostSpace>); \
  template class NarrowPlan<V, HostContext>;                                                     \
  HEDDLE_INSTANTIATE_FOR(V, float)                                                               \
  HEDDLE_INSTANTIATE_FOR(V, double)
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle
