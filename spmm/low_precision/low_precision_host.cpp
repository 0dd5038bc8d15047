#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <utility>

namespace heddle {
namespace {

constexpr Index kLeastRows = 256;

/// Calls body(i) for the rows i.
template <class Body>
void for_each_row(HostContext& context, Index rows, const Body& body) {
  const Slabs slabs = make_slabs(rows, kLeastRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) body(i);
  });
}

/// y_ij = f(x_ij, j) for all entries.
template <class T, class F>
void map(HostContext& context, const ConstBlockView<T, HostSpace>& X,
         const BlockView<float, HostSpace>& Y, const F& f) {
  for_each_row(context, X.rows(), [&](Index i) {
    for (Index j = 0; j < X.cols(); ++j) Y(i, j) = f(X(i, j), j);
  });
}

template <class V>
float rounded(double value, std::int32_t exponent = 0) noexcept {
  return V::round(exponent == 0 ? value : std::ldexp(value, exponent)).value();
}

/// factor·A with its rows scaled and its values rounded to V.
template <class V, Scalar T>
HostCsrMatrix<float> rounded_matrix(HostContext& context, const CsrView<T, HostSpace>& A,
                                    const std::vector<std::int32_t>& exponents, double factor) {
  HostCsrMatrix<float> result(context, A.rows, A.cols, A.nnz);
  std::copy_n(A.row_offsets, A.rows + 1, result.row_offsets());
  for_each_row(context, A.rows, [&](Index row) {
    for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      result.columns()[k] = A.columns[k];
      result.values()[k] = rounded<V>(factor * static_cast<double>(A.values[k]),
                                      exponents[static_cast<std::size_t>(row)]);
    }
  });
  return result;
}

}  // namespace

template <class V>
void narrow(HostContext& context, ConstBlockView<float, HostSpace> X,
            ConstSmallView<double, HostSpace> factors, NarrowView<V, HostSpace> Y) {
  map(context, X, Y,
      [&](float x, Index j) { return rounded<V>(factors(j, 0) * static_cast<double>(x)); });
}

template <class V>
void widen(HostContext& context, ConstNarrowView<V, HostSpace> X,
           ConstSmallView<double, HostSpace> factors, float beta, BlockView<float, HostSpace> Y) {
  for_each_row(context, Y.rows(), [&](Index i) {
    for (Index j = 0; j < Y.cols(); ++j) {
      const auto x = static_cast<float>(factors(j, 0) * static_cast<double>(X(i, j)));
      Y(i, j) = beta == 0 ? x : beta * Y(i, j) + x;
    }
  });
}

template <class V>
template <Scalar T>
LowPrecisionPlan<V, HostContext>::LowPrecisionPlan(HostContext& context, CsrView<T, HostSpace> A,
                                                   const LowPrecisionOptions& options)
    : scaling_(options.scaling),
      row_exponents_(heddle::row_exponents(context, A, scaling_, V::kLargest,
                                           limits_of(precision_of<V>()).name, options.factor)),
      A_(rounded_matrix<V>(context, A, row_exponents_, options.factor)),
      plan_(context, std::as_const(A_).view()) {
  if (options.kernel == "auto") return;
  throw InvalidArgument("kernel '" + options.kernel +
                        "': products in short number types on the host have one kernel, auto");
}

template <class V>
template <Scalar T>
void LowPrecisionPlan<V, HostContext>::multiply(HostContext& context,
                                                ConstBlockView<T, HostSpace> B,
                                                BlockView<float, HostSpace> C) {
  column_exponents_.resize(static_cast<std::size_t>(B.cols()));
  heddle::column_exponents(context, B, scaling_, V::kLargest, limits_of(precision_of<V>()).name,
                           column_exponents_.data());
  if (B_.rows() != B.rows() || B_.cols() < B.cols()) B_ = {context, B.rows(), B.cols()};
  const BlockView<float, HostSpace> rounded_B = B_.columns(0, B.cols());
  map(context, B, rounded_B, [&](T b, Index j) {
    return rounded<V>(static_cast<double>(b), column_exponents_[static_cast<std::size_t>(j)]);
  });
  plan_.multiply(context, 1.0f, ConstBlockView<float, HostSpace>(rounded_B), 0.0f, C);
  scale_back(context, C);
}

template <class V>
void LowPrecisionPlan<V, HostContext>::multiply(HostContext& context, float alpha,
                                                ConstNarrowView<V, HostSpace> B,
                                                const NarrowTerms<V, HostSpace>& terms,
                                                NarrowView<V, HostSpace> C) const {
  detail::require_unscaled(scaling_);
  plan_.multiply(context, alpha, B,
                 {.beta = terms.beta, .gamma = terms.gamma, .delta = terms.delta, .X = terms.X}, C);
  map(context, ConstNarrowView<V, HostSpace>(C), C,
      [](float c, Index) { return rounded<V>(static_cast<double>(c)); });
}

template <class V>
void LowPrecisionPlan<V, HostContext>::scale_back(HostContext& context,
                                                  BlockView<float, HostSpace> C) const {
  const auto exponent = [&](Index i, Index j) {
    return -row_exponents_[static_cast<std::size_t>(i)] -
           column_exponents_[static_cast<std::size_t>(j)];
  };
  std::atomic<bool> beyond = false;
  for_each_row(context, C.rows(), [&](Index i) {
    for (Index j = 0; j < C.cols(); ++j) {
      C(i, j) = std::ldexp(C(i, j), exponent(i, j));
      if (!std::isfinite(C(i, j))) beyond.store(true, std::memory_order_relaxed);
    }
  });
  for (Index i = 0; beyond && i < C.rows(); ++i) {
    for (Index j = 0; j < C.cols(); ++j) {
      if (std::isfinite(C(i, j))) continue;
      throw InvalidArgument(
          fmt::format("entry ({}, {}) of C = A B is beyond the range of single precision, in which "
                      "{} products are stored: choose double precision",
                      i + 1, j + 1, limits_of(precision_of<V>()).name));
    }
  }
}

#define HEDDLE_INSTANTIATE_FOR(V, T)                                                               \
  template LowPrecisionPlan<V, HostContext>::LowPrecisionPlan(HostContext&, CsrView<T, HostSpace>, \
                                                              const LowPrecisionOptions&);         \
  template void LowPrecisionPlan<V, HostContext>::multiply(                                        \
      HostContext&, ConstBlockView<T, HostSpace>, BlockView<float, HostSpace>);
#define HEDDLE_INSTANTIATE(V)                                                                    \
  template void narrow<V>(HostContext&, ConstBlockView<float, HostSpace>,                        \
                          ConstSmallView<double, HostSpace>, NarrowView<V, HostSpace>);          \
  template void widen<V>(HostContext&, ConstNarrowView<V, HostSpace>,                            \
                         ConstSmallView<double, HostSpace>, float, BlockView<float, HostSpace>); \
  template class LowPrecisionPlan<V, HostContext>;                                               \
  HEDDLE_INSTANTIATE_FOR(V, float)                                                               \
  HEDDLE_INSTANTIATE_FOR(V, double)
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle
