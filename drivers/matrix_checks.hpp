#pragma once

#include <heddle/drivers/problem.hpp>
#include <limits>

/// Checks that a stored matrix can be what a problem needs it to be. A failed check throws a
/// `ProblemError`. Rows and columns in messages count from 1, as in Matrix Market files.
namespace heddle::detail {

/// How far from symmetric a matrix may be, relative to its largest entry: entries that were
/// computed twice, in different orders, differ by some roundings of it.
inline constexpr double kSymmetryTolerance = 1e4 * std::numeric_limits<double>::epsilon();

/// A has rows, and as many columns.
void check_square(ProblemPart part, const Matrix& A);

/// A is symmetric up to what rounding in the program that wrote it explains.
void check_symmetric(HostContext& context, ProblemPart part, const Matrix& A);

/// B (symmetric) has no diagonal entry and no 2×2 principal minor that rules out that it is
/// positive definite: b_ii > 0 and b_ij² ≤ b_ii b_jj. Up to order 20000 a sparse factorisation
/// decides, beyond it a negative Ritz value. What that misses the solve may notice (`indefinite`).
void check_may_be_positive_definite(HostContext& context, CsrView<double, HostSpace> B);

}  // namespace heddle::detail
