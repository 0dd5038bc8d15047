#include <algorithm>
#include <cmath>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/solvers/detail/lanczos_operator.hpp>
#include <utility>

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
LanczosOperator<T, Ctx>::LanczosOperator(Ctx& context, Index n, Index block, bool pencil)
    : LinearOperator<T, Ctx>(n, n), block_(block) {
  if (pencil) AX_ = MultiVector<T, Space>(context, n, block);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_problem(const EigenProblem<T, Ctx>& problem,
                                          Which which) noexcept {
  A_ = problem.A;
  B_inverse_ = problem.B_inverse;
  sign_ = which == Which::smallest ? 1 : -1;
  set_filter(-1, 1, 1);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_filter(double lower, double upper, int degree) noexcept {
  middle_ = 0.5 * (lower + upper);
  half_width_ = 0.5 * (upper - lower);
  degree_ = degree;
}

template <Scalar T, class Ctx>
bool LanczosOperator<T, Ctx>::narrow(double wanted, double lower, double upper) noexcept {
  const double least = std::cosh(kGrowth<T> / kMaxDegree);
  lower = std::max(lower, wanted + (upper - wanted) * (least - 1) / (least + 1));
  if (degree_ > 1 && lower - wanted > kWorthwhile * (this->lower() - wanted)) return false;
  const double growth = std::acosh(1 + 2 * (lower - wanted) / (upper - lower));  // of one degree
  const double degree = std::ceil(kGrowth<T> / growth);
  if (!(degree >= kMinDegree)) return false;
  set_filter(lower, upper, static_cast<int>(std::min(degree, kMaxDegree)));
  return true;
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::position(double theta) const noexcept {
  if (degree_ == 1) return middle_ - half_width_ * theta;
  return middle_ - half_width_ * std::cosh(std::acosh(std::max(theta, 1.0)) / degree_);
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::image(double lambda) const noexcept {
  const double x = (middle_ - turned(lambda)) / half_width_;
  return degree_ == 1 ? x : std::cosh(degree_ * std::acosh(std::max(x, 1.0)));
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::residual_bound(double theta, double residual) const noexcept {
  if (degree_ == 1) return half_width_ * residual;
  const double distance = upper() - position(theta);  // no vector has a larger residual
  return residual < theta - 1 ? distance * residual / (theta - 1) : distance;
}

template <Scalar T, class Ctx>
auto LanczosOperator<T, Ctx>::room(Ctx& context, std::size_t term, Index cols) -> Block {
  MultiVector<T, Space>& block = term < terms_.size() ? terms_[term] : product_;
  if (block.cols() == 0) block = MultiVector<T, Space>(context, this->rows(), block_);
  return block.columns(0, cols);
}

/// Y = C X.
template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_C(Ctx& context, ConstBlock X, Block Y) {
  if (B_inverse_ == nullptr) return A_->apply(context, X, Y);
  const Block AX = AX_.columns(0, X.cols());
  A_->apply(context, X, AX);
  B_inverse_->apply(context, AX, Y);
}

/// Y = α C X + Y.
template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::add_C(Ctx& context, double alpha, ConstBlock X, Block Y) {
  if (B_inverse_ == nullptr && A_->accumulate(context, alpha, X, 1, Y)) return;
  const Block product = room(context, terms_.size(), X.cols());
  apply_C(context, X, product);
  axpby<T>(context, alpha, product, 1, Y);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_block(Ctx& context, ConstBlock X, Block Y) {
  const double c = middle_ / half_width_;  // (c − y)/e = c X + s C X
  const double s = -sign_ / half_width_;
  if (degree_ == 1) {
    apply_C(context, X, Y);
    if (c != 0 || s != 1) axpby<T>(context, c, X, s, Y);
    return;
  }
  Block before = room(context, 0, X.cols());
  Block term = room(context, 1, X.cols());
  copy(context, X, before);  // T_0 X
  axpby<T>(context, c, X, 0, term);
  add_C(context, s, X, term);  // T_1 X
  for (int k = 2; k <= degree_; ++k) {
    axpby<T>(context, 2 * c, term, -1, before);
    add_C(context, 2 * s, term, before);  // T_k X = 2 (c + s C) T_{k−1} X − T_{k−2} X
    std::swap(before, term);
  }
  copy<T>(context, term, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LanczosOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
