#pragma once

#include <vector>

namespace heddle::detail {

/// The largest degree of a smoothing polynomial.
inline constexpr int kMostSmoothingDegree = 5;

/// Coefficients a₀ … a_{k−1} of the polynomial p(λ) = Σ aᵢ λⁱ for which 1 − λ p(λ) is the
/// optimised Chebyshev polynomial of the fourth kind of degree k for eigenvalues in (0, β]. It
/// needs no bound on the small eigenvalues, which the coarse levels treat. k = 1 …
/// `kMostSmoothingDegree`, β > 0. Source: Lottes, Optimal polynomial smoothers for multigrid
/// V-cycles, Numer. Linear Algebra Appl. 30 (2023) e2518, algorithm 3 and table 1.
std::vector<double> smoothing_polynomial(int degree, double upper_bound);

}  // namespace heddle::detail
