#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <limits>
#include <type_traits>

// The part of `EigenVerifier` that removes the rounding errors of values where they decide.
//
// A Rayleigh quotient has an error of about ε|x|ᵀ|A||x|, by rounding of products with A alone. With
// a residual r = A x − θ B x that is accurate to its last digits, so is the quotient θ + xᵀr/xᵀBx,
// and only ‖r‖²/gap is left. The rounding of x itself is part of r.
namespace heddle::detail {
namespace {

/// The share of a value from which rounding is removed. Below it no criterion asks for more.
constexpr double kFrom = 1e-9;

/// A gap counts where it is this many times the rounding errors of the values that it lies between.
constexpr double kClearGap = 100;

/// A and its transpose may differ by rounding errors, which residuals of Aᵀ then have in addition
/// to those of A. Both together are at most twice as large, and count squared.
constexpr double kAsymmetry = 4;

}  // namespace

/// Whether rounding costs a value digits that `take_accurate_residuals` can save. `sizes_A`: of
/// `ErrorNorms`.
template <Scalar T, class Ctx>
bool EigenVerifier<T, Ctx>::needs_accuracy(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                           SmallView<double, Space> sizes_A) {
  if constexpr (std::is_same_v<Ctx, HostContext>) {
    const bool stored =
        problem.A->stored() != nullptr && (problem.B == nullptr || problem.B->stored() != nullptr);
    if (!stored || problem.constraints.cols() > 0) return false;
    const SmallView<double, HostSpace> sizes = numbers_host_.view(sizes_A.rows, 1);
    fetch(context, sizes_A, sizes);
    constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    for (Index j = 0; j < sizes.rows; ++j) {
      const double rounding =
          EigenConvergence::kRoundingOfValues * kEpsilon * error_norms_.size_A(sizes(j, 0), 0);
      if (rounding > kFrom * std::abs(values_[static_cast<std::size_t>(j)])) return true;
    }
  }
  return false;
}

/// R = A V − B V diag(theta) with sums in twice the precision.
template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::take_accurate_residuals(Ctx& context,
                                                    const EigenProblem<T, Ctx>& problem,
                                                    ConstBlockView<T, Space> V, const double* theta,
                                                    BlockView<T, Space> R) {
  if constexpr (std::is_same_v<Ctx, HostContext>) {
    const CsrView<T, HostSpace>* B = problem.B != nullptr ? problem.B->stored() : nullptr;
    accurate_residual<T>(context, *problem.A->stored(), B, V, theta, R);
  }
}

/// A bound of the whole error of value j from accurate residuals. Infinite where there are none,
/// where no gap is known, and for values that are zero to rounding: what is left of them stems from
/// rounded entries of A and says nothing.
template <Scalar T, class Ctx>
double EigenVerifier<T, Ctx>::accurate_error(std::size_t j, const ValueErrors& errors) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!accurate_ || !(std::abs(values_[j]) > errors.rounding)) return kInfinity;
  const double bound = bounds_.bound(static_cast<Index>(j));
  const double spread = bounds_.spread(static_cast<Index>(j));
  // The gap for which `ErrorBounds::change` of the spread is the bound.
  const double gap = bound > 0 ? spread / bound * spread - bound : kInfinity;
  if (!(gap > kClearGap * errors.rounding)) return kInfinity;
  const double moved = std::abs(values_[j] - ritz_values_[j]);
  const double dot = residuals_[j] * lengths_[j] * lengths_[j] / squares_[j];  // |x|ᵀ|r|
  const double rounding = EigenConvergence::kRoundingOfValues *
                              static_cast<double>(std::numeric_limits<T>::epsilon()) *
                              (std::abs(values_[j]) + moved + dot) +
                          std::numeric_limits<double>::epsilon() * errors.rounding;
  return std::max(kAsymmetry * bound + std::abs(corrections_[j]) + displacements_[j] + rounding,
                  errors.placing);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class EigenVerifier<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
