#include <algorithm>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/multivector.hpp>
#include <heddle/solvers/detail/dense_eigen.hpp>
#include <heddle/solvers/detail/lanczos_bounds.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace heddle {
namespace {

constexpr Index kSteps = 12;

template <Scalar T>
double norm_of(HostContext& context, ConstBlockView<T, HostSpace> x) {
  double norm = 0;
  column_norms(context, x, {&norm, 1, 1, 1});
  return norm;
}

}  // namespace

template <Scalar T>
SpectrumBounds lanczos_bounds(HostContext& context, CsrView<T, HostSpace> A) {
  const Index steps = std::min(kSteps, A.rows);
  if (steps == 0) return {};
  const SpmmPlan<T, HostContext> plan(context, A);
  MultiVector<T, HostSpace> v(context, A.rows, 1), v_old(context, A.rows, 1), w(context, A.rows, 1);
  std::vector<double> H(kSteps * kSteps), theta(kSteps), Z(kSteps * kSteps);
  const SmallView<HostSpace> tridiagonal{H.data(), steps, steps, kSteps};
  fill_random(context, 0, 0, w.view());
  set_zero(context, v.view());
  double beta = norm_of<T>(context, w.view());
  Index m = 0;
  while (m < steps && beta > 0) {
    std::swap(v_old, v);
    axpby<T>(context, 1 / beta, w.view(), 0, v.view());      // v_m = w/β
    plan.multiply(context, T{1}, v.view(), T{0}, w.view());  // w = A v_m
    if (m > 0) {
      tridiagonal(m, m - 1) = tridiagonal(m - 1, m) = beta;
      axpby<T>(context, -beta, v_old.view(), 1, w.view());  // w −= β v_{m−1}
    }
    double& alpha = tridiagonal(m, m);
    gram<T>(context, v.view(), w.view(), {&alpha, 1, 1, 1});
    axpby<T>(context, -alpha, v.view(), 1, w.view());  // w −= α v_m
    beta = norm_of<T>(context, w.view());
    ++m;
  }
  DenseEigensolver dense(kSteps);
  const bool solved = dense.solve(tridiagonal.block(0, 0, m, m), {theta.data(), m, 1, m},
                                  {Z.data(), m, m, m}) == DenseFailure::none;
  if (!solved || m == 0) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {-kInfinity, -kInfinity, kInfinity};
  }
  return {theta[0] - beta, theta[0], theta[static_cast<std::size_t>(m - 1)] + beta};
}

template SpectrumBounds lanczos_bounds(HostContext&, CsrView<float, HostSpace>);
template SpectrumBounds lanczos_bounds(HostContext&, CsrView<double, HostSpace>);

}  // namespace heddle
