#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// What some Lanczos steps say about a spectrum. Infinite where A holds numbers that are not
/// finite.
struct SpectrumBounds {
  double lower = 0;  ///< smallest Ritz value minus the last residual: a bound, if not proven
  double smallest_ritz = 0;      ///< proves that λ_min is not larger
  double largest_ritz = 0;       ///< proves that λ_max is not smaller
  double upper = 0;              ///< largest Ritz value plus the last residual
  double smallest_residual = 0;  ///< ‖A x − θ x‖ of the smallest Ritz pair: close to its error
  double largest_residual = 0;  ///< of the largest
};

/// Lanczos steps where nothing else is said.
inline constexpr Index kBoundsSteps = 12;

/// Bounds on the spectrum of A, symmetric, from Lanczos steps with a random start.
/// Source: Zhou & Li, SIAM J. Matrix Anal. Appl. 32 (2011) 480.
template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, LinearOperator<T, Ctx>& A, Index steps = kBoundsSteps);

/// The same for a stored matrix.
template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, CsrView<T, typename Ctx::Space> A);

}  // namespace heddle::detail
