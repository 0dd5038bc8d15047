#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/preconditioners/adaptive/condition_estimate.hpp>
#include <heddle/solvers/preconditioners/ones.hpp>
#include <limits>

namespace heddle::detail {
namespace {

constexpr ConditionEstimate kUnbounded{std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::infinity()};

/// Steps of CG, and whether their coefficients are all positive and finite.
struct CgSteps {
  CgCoefficients coefficients{};
  bool positive = true;
};

/// x ← (I − Z Zᵀ) x for orthonormal columns Z.
template <Scalar T, class Ctx>
void remove_parts(Ctx& context, ConstBlockView<T, typename Ctx::Space> Z,
                  BlockView<T, typename Ctx::Space> x) {
  if (Z.cols() == 0) return;
  SmallMatrix<Wide<T>, typename Ctx::Space> parts(context, Z.cols(), 1);
  gram<T>(context, Z, x, parts.view(Z.cols(), 1));
  multiply<T>(context, -1, Z, parts.view(Z.cols(), 1), 1, x);
}

template <Scalar T, class Ctx>
CgSteps cg_steps(Ctx& context, LinearOperator<T, Ctx>& A, LinearOperator<T, Ctx>* M, Index steps,
                 ConstBlockView<T, typename Ctx::Space> null_vectors) {
  using Space = typename Ctx::Space;
  MultiVector<T, Space> r(context, A.rows(), 1), z(context, A.rows(), 1), p(context, A.rows(), 1),
      q(context, A.rows(), 1);
  SmallMatrix<double, Space> number(context, 1, 1);
  const auto dot = [&](ConstBlockView<T, Space> x, ConstBlockView<T, Space> y) {
    double value = 0;
    column_dots<T>(context, x, y, number.view(1, 1));
    fetch(context, number.view(1, 1), SmallView<double, HostSpace>{&value, 1, 1, 1});
    return value;
  };
  const auto precondition = [&] {
    if (M == nullptr) return copy<T>(context, r.view(), z.view());
    M->apply(context, r.view(), z.view());
  };
  CgSteps made;
  const Buffer<T, Space> smooth = ones<T>(context, A.rows());
  fill_random(context, 0, 0, r.view(), A.row_range().first);
  axpby<T>(context, 1, ConstBlockView<T, Space>(smooth.data(), A.rows(), 1, 1), 1, r.view());
  remove_parts<T>(context, null_vectors, r.view());
  precondition();
  copy<T>(context, z.view(), p.view());
  double rho = dot(r.view(), z.view());
  const double first = rho;
  while (made.coefficients.steps() < steps) {
    A.apply(context, p.view(), q.view());
    const double alpha = rho / dot(p.view(), q.view());
    made.positive = alpha > 0 && std::isfinite(alpha);
    if (!made.positive) break;
    made.coefficients.add_alpha(alpha);
    axpby<T>(context, -alpha, q.view(), 1, r.view());
    precondition();
    const double next = dot(r.view(), z.view());
    made.positive = next >= 0 && std::isfinite(next);
    if (!made.positive || next <= std::numeric_limits<RealOf<T>>::epsilon() * first) break;
    made.coefficients.add_beta(next / rho);
    axpby<T>(context, 1, z.view(), next / rho, p.view());
    rho = next;
  }
  return made;
}

}  // namespace

template <Scalar T, class Ctx>
ConditionEstimate condition_estimate(Ctx& context, LinearOperator<T, Ctx>& A,
                                     LinearOperator<T, Ctx>* M, Index steps,
                                     ConstBlockView<T, typename Ctx::Space> null_vectors) {
  const CgSteps cg = cg_steps(context, A, M, std::min(steps, A.row_range().global), null_vectors);
  return cg.positive ? cg.coefficients.estimate() : kUnbounded;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                              \
  template ConditionEstimate condition_estimate(Ctx&, LinearOperator<T, Ctx>&,  \
                                                LinearOperator<T, Ctx>*, Index, \
                                                ConstBlockView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
