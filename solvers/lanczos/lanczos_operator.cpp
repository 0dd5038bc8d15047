#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/lanczos_operator.hpp>
#include <limits>

namespace heddle {
namespace {

/// The filter is changed where the interval that it leaves shrinks by this factor.
constexpr double kWorthwhile = 0.5;

/// acosh of what the filter makes of the wanted end. More would save dense work, for steps that do
/// more products, until values apart by this factor leave too few digits to the smaller ones.
template <Scalar T>
constexpr double kGrowth = sizeof(T) == sizeof(double) ? 4 : 2.5;

/// A filter of a lower degree saves too little: the wanted end stands well apart as it is.
constexpr double kMinDegree = 4;
constexpr double kMaxDegree = 20000;

}  // namespace

template <Scalar T, class Ctx>
void PencilOperator<T, Ctx>::set(const EigenProblem<T, Ctx>& problem,
                                 BlockView<T, Space> AX) noexcept {
  A_ = problem.A;
  B_inverse_ = problem.B_inverse;
  AX_ = AX;
}

template <Scalar T, class Ctx>
void PencilOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  if (B_inverse_ == nullptr) return A_->apply(context, X, Y);
  const BlockView<T, Space> AX = AX_.columns(0, X.cols());
  A_->apply(context, X, AX);
  B_inverse_->apply(context, AX, Y);
}

template <Scalar T, class Ctx>
bool PencilOperator<T, Ctx>::accumulate_block(Ctx& context, double alpha,
                                              ConstBlockView<T, Space> X, double beta,
                                              BlockView<T, Space> Y) {
  return B_inverse_ == nullptr && A_->accumulate(context, alpha, X, beta, Y);
}

template <Scalar T, class Ctx>
LanczosOperator<T, Ctx>::LanczosOperator(Ctx& context, Index n, Index block)
    : LinearOperator<T, Ctx>(n, n), C_(n), block_(block), work_(context, n, block) {}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_problem(const EigenProblem<T, Ctx>& problem,
                                          Which which) noexcept {
  C_.set(problem, work_.view());
  B_ = problem.B;
  sign_ = which == Which::smallest ? 1 : -1;
  filter_.reset();
  inverse_ = nullptr;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_filter(const ChebyshevFilter& filter) noexcept {
  filter_ = filter;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_inverse(ShiftedInverse<T, Ctx>& inverse, double reach) noexcept {
  filter_.reset();
  inverse_ = &inverse;
  reach_ = reach;
}

template <Scalar T, class Ctx>
std::optional<ChebyshevFilter> LanczosOperator<T, Ctx>::filter_for(double wanted, double lower,
                                                                   double upper) const {
  const double least = std::cosh(kGrowth<T> / kMaxDegree);
  lower = std::max(lower, wanted + (upper - wanted) * (least - 1) / (least + 1));
  if (filter_ && lower - wanted > kWorthwhile * (filter_->interval.lower - wanted)) return {};
  const double growth = std::acosh(1 + 2 * (lower - wanted) / (upper - lower));  // of one degree
  const double degree = std::ceil(kGrowth<T> / growth);
  if (!(degree >= kMinDegree)) return {};
  return ChebyshevFilter{{lower, upper}, static_cast<int>(std::min(degree, kMaxDegree))};
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::effort() const noexcept {
  const auto n = static_cast<double>(this->rows());
  return inverts() ? std::max(1.0, inverse_->factor_entries() / n) : degree();
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::position(double theta) const noexcept {
  if (inverts()) {
    return inverse_->shift() + 1 / std::max(theta, std::numeric_limits<double>::min());
  }
  if (!filter_) return -theta;
  const ChebyshevInterval& y = filter_->interval;
  return y.middle() -
         y.half_width() * std::cosh(std::acosh(std::max(theta, 1.0)) / filter_->degree);
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::image(double lambda) const noexcept {
  if (inverts()) return 1 / (lambda - inverse_->shift());
  if (!filter_) return -turned(lambda);
  const double x = (filter_->interval.middle() - turned(lambda)) / filter_->interval.half_width();
  return std::cosh(filter_->degree * std::acosh(std::max(x, 1.0)));
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::residual_bound(double theta, double residual) const noexcept {
  if (inverts()) return residual < theta ? reach_ * residual / theta : reach_;
  if (!filter_) return residual;
  const double distance = upper() - position(theta);  // no vector has a larger residual
  return residual < height(theta) ? distance * residual / height(theta) : distance;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_block(Ctx& context, ConstBlock X, Block Y) {
  if (inverts()) {
    if (B_ == nullptr) return inverse_->apply(context, X, Y);
    const Block BX = work_.columns(0, X.cols());
    B_->apply(context, X, BX);
    return inverse_->apply(context, BX, Y);
  }
  if (filter_) return apply_filter(context, X, Y);
  C_.apply(context, X, Y);
  if (sign_ == 1) axpby<T>(context, 0, X, -1, Y);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_filter(Ctx& context, ConstBlock X, Block Y) {
  if (!recurrence_) recurrence_.emplace(context, this->rows(), block_);
  // The interval of y is one of λ, or one of −λ; T_d is even or odd.
  const ChebyshevInterval& y = filter_->interval;
  const bool turned = sign_ == -1;
  recurrence_->start(context, C_, turned ? ChebyshevInterval{-y.upper, -y.lower} : y, X);
  for (int k = 2; k <= filter_->degree; ++k) {
    stopped_ = stopped_ || (stop_ && stop_());
    if (stopped_) return;
    recurrence_->step(context);
  }
  const bool odd = filter_->degree % 2 != 0;
  axpby<T>(context, odd && !turned ? -1 : 1, recurrence_->term(), 0, Y);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::archive(Ctx& context, Archive& archive,
                                      ShiftedInverse<T, Ctx>* inverse) {
  bool inverts = this->inverts();
  double sigma = inverts ? inverse_->shift() : 0;
  archive.values(filter_, inverts, sigma, reach_);
  if (!archive.loading() || !inverts) return;
  if (inverse == nullptr || !inverse->factor(context, sigma)) {
    throw Error("is of a matrix that could be factored");
  }
  inverse_ = inverse;
}

#define HEDDLE_INSTANTIATE(T, Ctx)       \
  template class PencilOperator<T, Ctx>; \
  template class LanczosOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
