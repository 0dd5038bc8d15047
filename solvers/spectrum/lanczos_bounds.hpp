#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// What some Lanczos steps tell about the spectrum of A. Infinite where A has entries that are not
/// finite.
struct SpectrumBounds {
  double lower = 0;          ///< smallest Ritz value minus the last residual, not a proven bound
  double smallest_ritz = 0;  ///< ≥ λ_min, proven
  double largest_ritz = 0;   ///< ≤ λ_max, proven
  double upper = 0;          ///< largest Ritz value plus the last residual, likewise not proven
  double smallest_residual = 0;  ///< ‖A x − θ x‖ of the smallest Ritz pair, about its error
  double largest_residual = 0;   ///< ‖A x − θ x‖ of the largest Ritz pair
};

/// The number of Lanczos steps where none is given.
inline constexpr Index kBoundsSteps = 12;

/// Bounds on the spectrum of A, symmetric, from Lanczos steps with a random start.
/// Source: Zhou & Li, SIAM J. Matrix Anal. Appl. 32 (2011) 480.
template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, LinearOperator<T, Ctx>& A, Index steps = kBoundsSteps);

/// The same for a stored matrix A, symmetric.
template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, CsrView<T, typename Ctx::Space> A);

}  // namespace heddle::detail
