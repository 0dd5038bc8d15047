#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <limits>
#include <span>
#include <type_traits>

// The part of `EigenVerifier` that computes residuals in twice the precision.
namespace heddle::detail {
namespace {

/// The error of entries of A and B relative to them: two roundings.
constexpr double kOfEntries = std::numeric_limits<double>::epsilon();

/// Rounding of a sum of products relative to the sum of their absolute values.
constexpr double kOfSums =
    EigenConvergence::kRoundingOfValues * std::numeric_limits<double>::epsilon();

/// The largest relative error of xᵀBx.
constexpr double kTwoDigits = 0.01;

/// The entries of `op`, if they lie in host memory of this process. Null otherwise, and in single
/// precision, where entries are rounded ones of the given matrix.
template <Scalar T, class Ctx>
const CsrView<T, HostSpace>* in_host_memory(const LinearOperator<T, Ctx>* op) {
  if constexpr (std::is_same_v<Ctx, HostContext> && !std::is_same_v<T, float>) {
    return op != nullptr ? op->stored() : nullptr;
  } else {
    return nullptr;
  }
}

}  // namespace

template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::measure_accurately(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                               const EigenConvergence& convergence,
                                               ConstBlockView<T, Space> V, BlockView<T, Space> AV,
                                               BlockView<T, Space> BV) {
  if (in_host_memory(problem.A) == nullptr) return;
  if (problem.B != nullptr && in_host_memory(problem.B) == nullptr) return;
  bool lacks_digits = false;
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    const double wanted = convergence.tolerance() * std::abs(values_[j]);
    const double rounding = rounding_of(convergence, j);
    lacks_digits = lacks_digits || (rounding > wanted && std::isfinite(rounding));
  }
  if (lacks_digits) measure(context, problem, V, AV, BV, Residuals::accurate);
}

/// R = A V − B V Θ, and the norms of its columns.
template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::accurate_residuals(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                               ConstBlockView<T, Space> V,
                                               SmallView<double, HostSpace> theta,
                                               BlockView<T, Space> R,
                                               SmallView<double, Space> norms) {
  if constexpr (std::is_same_v<Ctx, HostContext>) {
    const std::span<const double> values(theta.data, static_cast<std::size_t>(theta.rows));
    accurate_residual<T>(context, *in_host_memory(problem.A), in_host_memory(problem.B), V, values,
                         R);
    column_norms<T>(context, R, norms);
  }
}

/// What rounding changes in value j = θ + xᵀr/xᵀBx for an r that was summed in twice the precision:
/// that of the entries of A and B, of θ, of xᵀr and of xᵀBx. Infinite where xᵀBx has no digits.
template <Scalar T, class Ctx>
double EigenVerifier<T, Ctx>::accurate_rounding_of(const EigenConvergence& convergence,
                                                   std::size_t j) const {
  const double size_A = error_norms_.size_A(sizes_A_[j], convergence.norm_A()) / squares_[j];
  const double size_B = error_norms_.size_B(sizes_B_[j], convergence.norm_B()) / squares_[j];
  if (!(kOfSums * size_B <= kTwoDigits)) return std::numeric_limits<double>::infinity();
  const double theta = std::max(std::abs(values_[j]), std::abs(ritz_values_[j]));
  const double of_entries = kOfEntries * (size_A + theta * size_B);
  return of_entries + kOfSums * (theta + std::sqrt(size_B) * dual_residuals_[j] +
                                 size_B * std::abs(values_[j] - ritz_values_[j]));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class EigenVerifier<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
