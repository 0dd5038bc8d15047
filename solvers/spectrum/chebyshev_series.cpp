#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <numbers>
#include <utility>

namespace heddle::detail {
namespace {

/// The shape of Kaiser's window. A larger value makes the ripples smaller and the kernel wider.
constexpr double kKaiserShape = 3;

/// The modified Bessel function I₀(x) = Σ ((x/2)^k / k!)², for x of a few units.
double bessel_i0(double x) noexcept {
  double term = 1;
  double sum = 1;
  for (double k = 1; term > 1e-17 * sum; ++k) {
    term *= 0.25 * x * x / (k * k);
    sum += term;
  }
  return sum;
}

double jackson(Index index, Index degree) noexcept {
  const auto k = static_cast<double>(index);
  const auto terms = static_cast<double>(degree) + 1;
  const double unit = std::numbers::pi / (terms + 1);
  return ((terms - k + 1) * std::cos(k * unit) +
          std::sin(k * unit) * std::cos(unit) / std::sin(unit)) /
         (terms + 1);
}

double kaiser(Index index, Index degree) noexcept {
  const double place = static_cast<double>(index) / (static_cast<double>(degree) + 1);
  return bessel_i0(kKaiserShape * std::sqrt(1 - place * place)) / bessel_i0(kKaiserShape);
}

}  // namespace

double ChebyshevInterval::angle(double x) const noexcept {
  return std::acos(std::clamp((x - middle()) / half_width(), -1.0, 1.0));
}

double ChebyshevInterval::at(double angle) const noexcept {
  return middle() + half_width() * std::cos(std::clamp(angle, 0.0, std::numbers::pi));
}

std::vector<double> band_pass_coefficients(const ChebyshevInterval& interval, double a, double b,
                                           Index degree, Damping damping) {
  constexpr double pi = std::numbers::pi;
  const double from = interval.angle(b);  // the angle decreases with x
  const double to = interval.angle(a);
  std::vector<double> coefficients{(to - from) / pi};
  for (Index index = 1; index <= degree; ++index) {
    const auto k = static_cast<double>(index);
    const double factor =
        damping == Damping::jackson ? jackson(index, degree) : kaiser(index, degree);
    coefficients.push_back(2 * factor * (std::sin(k * to) - std::sin(k * from)) / (k * pi));
  }
  return coefficients;
}

double series_value(const std::vector<double>& coefficients, double angle) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    sum += coefficients[k] * std::cos(static_cast<double>(k) * angle);
  }
  return sum;
}

template <Scalar T, class Ctx>
ChebyshevRecurrence<T, Ctx>::ChebyshevRecurrence(Ctx& context, Index n, Index block)
    : block_(block), term_(context, n, block), before_(context, n, block) {}

template <Scalar T, class Ctx>
void ChebyshevRecurrence<T, Ctx>::start(Ctx& context, LinearOperator<T, Ctx>& A,
                                        const ChebyshevInterval& interval, ConstBlock X,
                                        const Sum& sum) {
  A_ = &A;
  interval_ = interval;
  cols_ = X.cols();
  const double e = interval.half_width();
  copy<T>(context, X, before_.columns(0, cols_));  // T_0 X
  multiply(context, 1 / e, X,                      // T_1 X = (A − c)/e X
           {.gamma = static_cast<RealOf<T>>(-interval.middle() / e),
            .eta = static_cast<RealOf<T>>(sum.coefficient),
            .Y = sum.Y},
           term_.columns(0, cols_));
}

template <Scalar T, class Ctx>
void ChebyshevRecurrence<T, Ctx>::step(Ctx& context, const Sum& sum) {
  const double e = interval_.half_width();
  multiply(context, 2 / e, term(),  // 2 (A − c)/e T_k X − T_{k−1} X
           {.beta = T{-1},
            .gamma = static_cast<RealOf<T>>(-2 * interval_.middle() / e),
            .eta = static_cast<RealOf<T>>(sum.coefficient),
            .Y = sum.Y},
           before_.columns(0, cols_));
  std::swap(term_, before_);
}

/// C = α A B with the terms of the epilogue, in several passes if A cannot accumulate.
template <Scalar T, class Ctx>
void ChebyshevRecurrence<T, Ctx>::multiply(Ctx& context, double alpha, ConstBlock B,
                                           const SpmmEpilogue<T, Space>& epilogue, Block C) {
  if (A_->accumulate(context, alpha, B, epilogue, C)) return;
  if (product_.cols() == 0) product_ = MultiVector<T, Space>(context, B.rows(), block_);
  const Block product = product_.columns(0, cols_);
  const auto coefficient = [](T value) { return static_cast<double>(real_part(value)); };
  A_->apply(context, B, product);
  axpby<T>(context, coefficient(epilogue.gamma), B, coefficient(epilogue.beta), C);
  axpby<T>(context, alpha, product, 1, C);
  if (epilogue.eta != T{0}) axpby<T>(context, coefficient(epilogue.eta), C, 1, epilogue.Y);
}

template <Scalar T, class Ctx>
bool apply_series(Ctx& context, ChebyshevRecurrence<T, Ctx>& recurrence, LinearOperator<T, Ctx>& A,
                  const ChebyshevInterval& interval, const std::vector<double>& coefficients,
                  ConstBlockView<T, typename Ctx::Space> X, BlockView<T, typename Ctx::Space> Y,
                  const std::function<bool()>& stop) {
  axpby<T>(context, coefficients[0], X, 0, Y);
  recurrence.start(context, A, interval, X, {coefficients[1], Y});
  for (std::size_t k = 2; k < coefficients.size(); ++k) {
    if (stop()) return false;
    recurrence.step(context, {coefficients[k], Y});
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
