#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <numbers>
#include <utility>

namespace heddle::detail {

double ChebyshevInterval::angle(double x) const noexcept {
  return std::acos(std::clamp((x - middle()) / half_width(), -1.0, 1.0));
}

double ChebyshevInterval::at(double angle) const noexcept {
  return middle() + half_width() * std::cos(std::clamp(angle, 0.0, std::numbers::pi));
}

std::vector<double> band_pass_coefficients(const ChebyshevInterval& interval, double a, double b,
                                           Index degree) {
  constexpr double pi = std::numbers::pi;
  const double from = interval.angle(b);  // the angle decreases with x
  const double to = interval.angle(a);
  const auto terms = static_cast<double>(degree) + 1;
  const double unit = pi / (terms + 1);
  std::vector<double> coefficients{(to - from) / pi};
  for (Index index = 1; index <= degree; ++index) {
    const auto k = static_cast<double>(index);
    const double jackson = ((terms - k + 1) * std::cos(k * unit) +
                            std::sin(k * unit) * std::cos(unit) / std::sin(unit)) /
                           (terms + 1);
    coefficients.push_back(2 * jackson * (std::sin(k * to) - std::sin(k * from)) / (k * pi));
  }
  return coefficients;
}

template <Scalar T, class Ctx>
ChebyshevRecurrence<T, Ctx>::ChebyshevRecurrence(Ctx& context, Index n, Index block)
    : block_(block), term_(context, n, block), before_(context, n, block) {}

template <Scalar T, class Ctx>
void ChebyshevRecurrence<T, Ctx>::start(Ctx& context, LinearOperator<T, Ctx>& A,
                                        const ChebyshevInterval& interval, ConstBlock X) {
  A_ = &A;
  interval_ = interval;
  cols_ = X.cols();
  const double e = interval.half_width();
  const Block term = term_.columns(0, cols_);
  copy<T>(context, X, before_.columns(0, cols_));  // T_0 X
  axpby<T>(context, -interval.middle() / e, X, 0, term);
  add_product(context, 1 / e, X, term);  // T_1 X = (A − c)/e X
}

template <Scalar T, class Ctx>
void ChebyshevRecurrence<T, Ctx>::step(Ctx& context) {
  const double e = interval_.half_width();
  const Block next = before_.columns(0, cols_);
  axpby<T>(context, -2 * interval_.middle() / e, term(), -1, next);
  add_product(context, 2 / e, term(), next);  // 2 (A − c)/e T_k X − T_{k−1} X
  std::swap(term_, before_);
}

/// Y = α A X + Y.
template <Scalar T, class Ctx>
void ChebyshevRecurrence<T, Ctx>::add_product(Ctx& context, double alpha, ConstBlock X, Block Y) {
  if (A_->accumulate(context, alpha, X, 1, Y)) return;
  if (product_.cols() == 0) product_ = MultiVector<T, Space>(context, X.rows(), block_);
  const Block product = product_.columns(0, cols_);
  A_->apply(context, X, product);
  axpby<T>(context, alpha, product, 1, Y);
}

template <Scalar T, class Ctx>
bool apply_series(Ctx& context, ChebyshevRecurrence<T, Ctx>& recurrence, LinearOperator<T, Ctx>& A,
                  const ChebyshevInterval& interval, const std::vector<double>& coefficients,
                  ConstBlockView<T, typename Ctx::Space> X, BlockView<T, typename Ctx::Space> Y,
                  const std::function<bool()>& stop) {
  recurrence.start(context, A, interval, X);
  axpby<T>(context, coefficients[0], X, 0, Y);
  axpby<T>(context, coefficients[1], recurrence.term(), 1, Y);
  for (std::size_t k = 2; k < coefficients.size(); ++k) {
    if (stop()) return false;
    recurrence.step(context);
    axpby<T>(context, coefficients[k], recurrence.term(), 1, Y);
  }
  return true;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                        \
  template class ChebyshevRecurrence<T, Ctx>;                                             \
  template bool apply_series(Ctx&, ChebyshevRecurrence<T, Ctx>&, LinearOperator<T, Ctx>&, \
                             const ChebyshevInterval&, const std::vector<double>&,        \
                             ConstBlockView<T, typename Ctx::Space>,                      \
                             BlockView<T, typename Ctx::Space>, const std::function<bool()>&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
