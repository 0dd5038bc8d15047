#pragma once

#include <heddle/drivers/problem/problem.hpp>
#include <limits>

/// Checks of the stored matrices of a problem. A failed check throws `ProblemError`. Rows and
/// columns in messages count from 1, as in Matrix Market files.
namespace heddle::detail {

/// The largest |a_ij − a_ji| of a matrix that counts as symmetric, relative to its largest entry.
/// Entries a_ij and a_ji that a program computed with different orders of summation differ by some
/// rounding errors of the largest entry.
inline constexpr double kSymmetryTolerance = 1e4 * std::numeric_limits<double>::epsilon();

/// Up to this order, a mass matrix is factorised to determine whether it is positive definite.
/// Above it, the fill may cost more than the solve, and the test consists of some Lanczos steps.
inline constexpr Index kFactorizedOrder = 20000;

/// Checks that a matrix of rows×cols is square and not empty.
void check_square(ProblemPart part, Index rows, Index cols);

/// Checks that an A of rows×cols is not empty and, unless `normal_equations`, square.
void check_shape(Index rows, Index cols, bool normal_equations);

/// Checks that A is symmetric, or Hermitian with a real diagonal, to within `kSymmetryTolerance`.
void check_symmetric(HostContext& context, ProblemPart part, const Matrix& A);
void check_symmetric(HostContext& context, ProblemPart part, const ComplexMatrix& A);

/// The dimension of the null space of a symmetric or Hermitian B that may be positive semidefinite.
/// Checks the necessary conditions b_ii ≥ 0 and |b_ij|² ≤ b_ii b_jj. Up to order 20000, a sparse
/// factorisation then decides. Eigenvalues of D^(−1/2) B D^(−1/2) below 1e-12 in size, with the
/// diagonal D of B, count as 0. Above that order, a negative Ritz value rejects B, and only rows
/// that are zero count. An indefinite B that passes may be detected by the solve
/// (`SolveStatus::indefinite`).
template <WideScalar W>
Index null_space_of_mass(HostContext& context, CsrView<W, HostSpace> B);

}  // namespace heddle::detail
