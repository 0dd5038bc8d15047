#include <algorithm>
#include <cmath>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/solvers/detail/lanczos_operator.hpp>
#include <utility>

namespace heddle {

template <Scalar T, class Ctx>
LanczosOperator<T, Ctx>::LanczosOperator(Ctx& context, Index n, Index block, bool filtered,
                                         bool pencil)
    : LinearOperator<T, Ctx>(n, n) {
  if (filtered) {
    for (auto& term : terms_) term = MultiVector<T, Space>(context, n, block);
  }
  if (pencil) AX_ = MultiVector<T, Space>(context, n, block);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_problem(const EigenProblem<T, Ctx>& problem) noexcept {
  A_ = problem.A;
  B_inverse_ = problem.B_inverse;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_filter(double lower, double upper, int degree) noexcept {
  middle_ = 0.5 * (lower + upper);
  half_width_ = 0.5 * (upper - lower);
  degree_ = degree;
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::eigenvalue(double theta) const noexcept {
  if (degree_ == 0) return theta;
  if (degree_ == 1) return middle_ - half_width_ * theta;
  return middle_ - half_width_ * std::cosh(std::acosh(std::max(theta, 1.0)) / degree_);
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::image(double lambda) const noexcept {
  if (degree_ == 0) return lambda;
  const double x = (middle_ - lambda) / half_width_;
  return degree_ == 1 ? x : std::cosh(degree_ * std::acosh(std::max(x, 1.0)));
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::residual_bound(double theta, double residual) const noexcept {
  if (degree_ == 0) return residual;
  if (degree_ == 1) return half_width_ * residual;
  const double distance = upper() - eigenvalue(theta);  // no vector has a larger residual
  return residual < theta - 1 ? distance * residual / (theta - 1) : distance;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_C(Ctx& context, ConstBlockView<T, Space> X,
                                      BlockView<T, Space> Y) {
  if (B_inverse_ == nullptr) return A_->apply(context, X, Y);
  const BlockView<T, Space> AX = AX_.columns(0, X.cols());
  A_->apply(context, X, AX);
  B_inverse_->apply(context, AX, Y);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                          BlockView<T, Space> Y) {
  if (degree_ == 0) return apply_C(context, X, Y);
  const double c = middle_ / half_width_;
  const double e = 1 / half_width_;
  if (degree_ == 1) {  // Y = (c X − C X)/e
    apply_C(context, X, Y);
    return axpby<T>(context, c, X, -e, Y);
  }
  const Index b = X.cols();
  BlockView<T, Space> before = terms_[0].columns(0, b);
  BlockView<T, Space> term = terms_[1].columns(0, b);
  const BlockView<T, Space> product = terms_[2].columns(0, b);
  copy(context, X, before);
  apply_C(context, X, term);
  axpby<T>(context, c, X, -e, term);
  for (int k = 2; k <= degree_; ++k) {  // T_k X = 2 (c T_{k−1} X − C T_{k−1} X)/e − T_{k−2} X
    apply_C(context, term, product);
    axpby<T>(context, 2 * c, term, -1, before);
    axpby<T>(context, -2 * e, product, 1, before);
    std::swap(before, term);
  }
  copy<T>(context, term, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LanczosOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
