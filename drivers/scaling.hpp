#pragma once

#include <heddle/drivers/device.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <vector>

/// Solves problems whose entries are so large or so small that products and norms would overflow or
/// underflow, or that ‖A‖ says nothing of the wanted eigenvalues.
namespace heddle::detail {

/// The powers of two by which the parts of a problem are multiplied before it is solved:
///
///     A' = 2^a E A E,  B' = 2^b E B E,  R' = 2^a R     λ' = 2^(a−b) λ,  x' = 2^(−b/2) E⁻¹x
///
/// with A'X = R' and E = diag(2^(e_i)). The exponents a and b are 0 if the largest entries of A and
/// B are of a moderate size. E is the identity but for graded problems. Multiplications by powers
/// of two are exact, so a scaled problem has the solution that the problem itself would have if
/// numbers had no limits.
struct ProblemScaling {
  int A = 0;                ///< a
  int B = 0;                ///< b, an even number
  std::vector<int> rows{};  ///< e_i. Empty: the problem is not graded, and all are 0
  double span = 1;          ///< as in `RowGrading`
  Index held = 0;           ///< as in `RowGrading`

  /// Whether the rows are graded, so that only the standard form of (A − σB)⁻¹B has all digits.
  bool graded() const noexcept { return !rows.empty(); }

  /// Whether the problem stays as it is.
  bool changes_nothing() const noexcept { return A == 0 && B == 0 && rows.empty(); }
};

/// Whether squares of entries up to the size `largest` stay in the range of the precision.
bool is_moderate(double largest, const Request& request);

/// The span of the sizes of rows, see `RowGrading`, from which `problem` counts as graded. Infinite
/// if `request` lets nothing be factored. Reads no entry of the problem.
double least_graded_span(const Problem& problem, const Request& request);

/// The scaling that brings the largest entries of A and B to a size between 1 and 4 if they are far
/// from 1. Where the smallest eigenpairs are wanted, a factor of A − σB fits into memory, and the
/// rows are graded, it also brings the rows of A to a size of about 1. Penalties in A then become
/// tiny masses in B. Matrices that are not stored are left alone.
ProblemScaling scaling_of(const Problem& problem, const Request& request);

/// Scales `problem`, the interval of `request` and its tolerance, if that is absolute. Columns of
/// the constraints and of the initial guess of an eigenproblem, which matter only by their span,
/// are scaled one by one. Where rows are graded, `request` asks for the inverse. Throws
/// `ProblemError` if the right-hand sides then leave the range of numbers. The solution would leave
/// this range, too.
void scale(HostContext& context, Problem& problem, Request& request, const ProblemScaling& scaling);

/// `monitor` with the eigenvalues of the original problem in place of those of the scaled one.
Monitor unscaled(const Monitor& monitor, const ProblemScaling& scaling);

/// Replaces the solution of the scaled problem by that of the original one. If an eigenvalue, a
/// singular value or a vector then leaves the range of numbers, the status becomes `breakdown`, and
/// the reason names the value. For a graded problem, the reason names the span of its rows.
void unscale(Device& device, Solution& solution, const ProblemScaling& scaling);

/// Replaces the residuals of the solution of a scaled eigenproblem by those of `given`, from fresh
/// products on the host. Returns the largest one as a multiple of what the criterion of `request`
/// allows, or rounding, whichever is larger.
double take_given_residuals(HostContext& context, const Problem& given, const Request& request,
                            Solution& solution);

/// For a graded problem, which was solved with a factor: a value that is not zero and whose bound
/// exceeds 10⁻⁶ |λ| and the tolerance is not converged, although nothing but the rounding of the
/// matrix limits it. The reason names the first one.
void require_digits(const Request& request, Solution& solution);

}  // namespace heddle::detail
