#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/low_precision/rounded_matrix.hpp>
#include <utility>

namespace heddle {
namespace {

constexpr Index kLeastRows = 256;

}  // namespace

template <class V>
template <Scalar T>
LowPrecisionPlan<V, HostContext>::LowPrecisionPlan(HostContext& context, CsrView<T, HostSpace> A,
                                                   RangeScaling scaling)
    : scaling_(scaling),
      row_exponents_(heddle::row_exponents(context, A, scaling, V::kLargest,
                                           limits_of(detail::precision_of<V>()).name)),
      A_(detail::rounded_matrix<V>(context, A, row_exponents_)),
      plan_(context, std::as_const(A_).view()) {}

template <class V>
template <Scalar T>
void LowPrecisionPlan<V, HostContext>::multiply(HostContext& context,
                                                ConstBlockView<T, HostSpace> B,
                                                BlockView<float, HostSpace> C) {
  if (B.rows() != A_.cols() || C.rows() != A_.rows() || C.cols() != B.cols()) {
    throw InvalidArgument(fmt::format("C = A B does not fit: A is {}x{}, B is {}x{}, C is {}x{}",
                                      A_.rows(), A_.cols(), B.rows(), B.cols(), C.rows(),
                                      C.cols()));
  }
  column_exponents_.resize(static_cast<std::size_t>(B.cols()));
  heddle::column_exponents(context, B, scaling_, V::kLargest,
                           limits_of(detail::precision_of<V>()).name, column_exponents_.data());
  if (B_.rows() != B.rows() || B_.cols() < B.cols()) B_ = {context, B.rows(), B.cols()};
  const BlockView<float, HostSpace> rounded_B = B_.columns(0, B.cols());
  const Slabs slabs = make_slabs(B.rows(), kLeastRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      for (Index j = 0; j < B.cols(); ++j) {
        rounded_B(i, j) = detail::rounded<V>(static_cast<double>(B(i, j)),
                                             column_exponents_[static_cast<std::size_t>(j)]);
      }
    }
  });
  plan_.multiply(context, 1.0f, ConstBlockView<float, HostSpace>(rounded_B), 0.0f, C);
  scale_back(context, C);
}

template <class V>
template <Scalar T>
void LowPrecisionPlan<V, HostContext>::multiply(HostContext& context,
                                                const ColumnMajorBlock<T, HostSpace>& B,
                                                BlockView<float, HostSpace> C) {
  MultiVector<T, HostSpace> by_rows(context, B.rows, B.cols);
  const BlockView<T, HostSpace> copy = by_rows.view();
  const Slabs slabs = make_slabs(B.rows, kLeastRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index j = 0; j < B.cols; ++j) {
      for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) copy(i, j) = B.data[i + j * B.ld];
    }
  });
  multiply(context, ConstBlockView<T, HostSpace>(copy), C);
}

template <class V>
void LowPrecisionPlan<V, HostContext>::scale_back(HostContext& context,
                                                  BlockView<float, HostSpace> C) const {
  const Slabs slabs = make_slabs(C.rows(), kLeastRows);
  const auto exponent = [&](Index i, Index j) {
    return -row_exponents_[static_cast<std::size_t>(i)] -
           column_exponents_[static_cast<std::size_t>(j)];
  };
  std::atomic<bool> beyond = false;
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      for (Index j = 0; j < C.cols(); ++j) {
        C(i, j) = std::ldexp(C(i, j), exponent(i, j));
        if (!std::isfinite(C(i, j))) beyond.store(true, std::memory_order_relaxed);
      }
    }
  });
  for (Index i = 0; beyond && i < C.rows(); ++i) {
    for (Index j = 0; j < C.cols(); ++j) {
      if (std::isfinite(C(i, j))) continue;
      throw InvalidArgument(
          fmt::format("entry ({}, {}) of C = A B is beyond the range of single precision, in which "
                      "{} products are stored: choose double precision",
                      i + 1, j + 1, limits_of(detail::precision_of<V>()).name));
    }
  }
}

#define HEDDLE_INSTANTIATE_FOR(V, T)                                                               \
  template LowPrecisionPlan<V, HostContext>::LowPrecisionPlan(HostContext&, CsrView<T, HostSpace>, \
                                                              RangeScaling);                       \
  template void LowPrecisionPlan<V, HostContext>::multiply(                                        \
      HostContext&, ConstBlockView<T, HostSpace>, BlockView<float, HostSpace>);                    \
  template void LowPrecisionPlan<V, HostContext>::multiply(                                        \
      HostContext&, const ColumnMajorBlock<T, HostSpace>&, BlockView<float, HostSpace>);
#define HEDDLE_INSTANTIATE(V)                      \
  template class LowPrecisionPlan<V, HostContext>; \
  HEDDLE_INSTANTIATE_FOR(V, float)                 \
  HEDDLE_INSTANTIATE_FOR(V, double)
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle
