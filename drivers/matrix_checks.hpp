#pragma once

#include <heddle/drivers/problem.hpp>
#include <limits>

/// Checks of the stored matrices of a problem. A failed check throws `ProblemError`. Rows and
/// columns in messages count from 1, as in Matrix Market files.
namespace heddle::detail {

/// The largest |a_ij − a_ji| of a matrix that counts as symmetric, relative to its largest entry.
/// Entries a_ij and a_ji that a program computed with different orders of summation differ by some
/// rounding errors of the largest entry.
inline constexpr double kSymmetryTolerance = 1e4 * std::numeric_limits<double>::epsilon();

/// Checks that A is square and not empty.
void check_square(ProblemPart part, const Matrix& A);

/// Checks that A is symmetric to within `kSymmetryTolerance`.
void check_symmetric(HostContext& context, ProblemPart part, const Matrix& A);

/// Checks necessary conditions for a symmetric B to be positive definite: b_ii > 0 and b_ij² ≤ b_ii
/// b_jj. Up to order 20000, a sparse factorisation then decides. Above that order, a negative Ritz
/// value rejects B. An indefinite B that passes may be detected by the solve
/// (`SolveStatus::indefinite`).
void check_may_be_positive_definite(HostContext& context, CsrView<double, HostSpace> B);

}  // namespace heddle::detail
