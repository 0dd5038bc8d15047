#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// Bounds and estimates of the ends of the spectrum of A from some Lanczos steps. Infinite if A has
/// entries that are not finite.
struct SpectrumBounds {
  double lower = 0;          ///< smallest Ritz value minus the last residual, not a proven bound
  double smallest_ritz = 0;  ///< ≥ λ_min, proven
  double largest_ritz = 0;   ///< ≤ λ_max, proven
  double upper = 0;          ///< largest Ritz value plus the last residual, not a proven bound
  double smallest_residual = 0;  ///< ‖A x − θ x‖ of the smallest Ritz pair
  double largest_residual = 0;   ///< ‖A x − θ x‖ of the largest Ritz pair
};

/// The default number of Lanczos steps.
inline constexpr Index kBoundsSteps = 12;

/// Bounds on the spectrum of a symmetric A from Lanczos steps with a random start vector. Source:
/// Zhou & Li, SIAM J. Matrix Anal. Appl. 32 (2011) 480.
template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, LinearOperator<T, Ctx>& A, Index steps = kBoundsSteps);

/// The same for a stored symmetric matrix A.
template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, DistributedCsrView<T, typename Ctx::Space> A,
                              Index steps = kBoundsSteps);

}  // namespace heddle::detail
