#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <limits>

// The part of `EigenVerifier` that changes vectors to reduce their residuals.
namespace heddle::detail {
namespace {

/// Steps of minimal residuals per verification, at most. The first one leaves .25 to .85 of the
/// largest residual.
constexpr int kMostReductions = 2;

/// A step that leaves more than this share of the largest residual is the last one.
constexpr double kLeastReduction = 0.9;

/// Residuals up to this share of their scale are the rounding errors of products with A.
template <Scalar T>
constexpr double kRounding = 4 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

}  // namespace

template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::reduce_residuals(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                             const EigenConvergence& convergence,
                                             BlockView<T, Space> V, BlockView<T, Space> AV,
                                             BlockView<T, Space> BV) {
  if (problem.B != nullptr || AV.cols() < 2) return;
  const auto worst = [&] { return *std::max_element(residuals_.begin(), residuals_.end()); };
  unreduced_.assign(dual_residuals_.begin(), dual_residuals_.end());
  for (int step = 0; step < kMostReductions && reducible(convergence); ++step) {
    const double before = worst();
    step_of_minimal_residuals(context, *problem.A, V, AV);
    measure(context, problem, V, AV, BV);
    if (!(worst() <= kLeastReduction * before)) break;
  }
  for (std::size_t j = 0; j < unreduced_.size(); ++j) keep_worst(dual_residuals_[j], unreduced_[j]);
}

/// Whether the criterion asks for residuals at the level of rounding, and some are above their own
/// rounding.
template <Scalar T, class Ctx>
bool EigenVerifier<T, Ctx>::reducible(const EigenConvergence& convergence) const {
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    const double value = values_[j];
    const bool strict = convergence.residual_is_rounding(value, convergence.allowed(value));
    if (strict && residuals_[j] > kRounding<T> * convergence.scale(value)) return true;
  }
  return false;
}

/// v ← v − (rᵀw/wᵀw) r for each vector, with r = A v − λ v and w = A r − λ r.
template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::step_of_minimal_residuals(Ctx& context, LinearOperator<T, Ctx>& A,
                                                      BlockView<T, Space> V,
                                                      BlockView<T, Space> scratch) {
  const PhaseScope phase(context, Phase::verify);
  const Index k = V.cols();
  const SmallView<double, HostSpace> host = theta_host_.view(k, 1);
  std::copy_n(values_.begin(), k, host.data);
  send(context, host, theta_.view(k, 1));
  const Index width = scratch.cols() / 2;
  for (Index first = 0; first < k; first += width) {
    const Index count = std::min(width, k - first);
    const auto v = V.columns(first, count);
    const auto r = scratch.columns(0, count);
    const auto w = scratch.columns(count, count);
    const auto theta = theta_.view(k, 1).block(first, 0, count, 1);
    const SmallView<double, Space> norms = numbers_.view(count, 2).block(0, 0, count, 1);
    const SmallView<double, Space> dots = numbers_.view(count, 2).block(0, 1, count, 1);
    A.apply(context, v, r);
    residual<T>(context, r, v, theta, r, norms);  // r = A v − λ v
    A.apply(context, r, w);
    residual<T>(context, w, r, theta, w, norms);  // w = A r − λ r
    column_dots<T>(context, r, w, dots);
    const SmallView<double, HostSpace> numbers = numbers_host_.view(count, 2);
    fetch(context, numbers_.view(count, 2), numbers);
    const SmallView<double, HostSpace> alpha = theta_host_.view(count, 1);
    for (Index j = 0; j < count; ++j) {
      const double norm = numbers(j, 0);
      alpha(j, 0) = norm > 0 ? -(numbers(j, 1) / norm) / norm : 0;
    }
    send(context, alpha, norms);
    scale_columns<T>(context, norms, r);
    axpby<T>(context, 1, r, 1, v);  // v ← v − (rᵀw/wᵀw) r
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class EigenVerifier<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
