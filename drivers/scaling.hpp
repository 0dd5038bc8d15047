#pragma once

#include <heddle/drivers/device.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>

/// Solves problems whose entries are so large or so small that products and norms would overflow or
/// underflow.
namespace heddle::detail {

/// The powers of two by which the parts of a problem are multiplied before it is solved:
///
///     A' = 2^a A,  B' = 2^b B,  R' = 2^a R     λ' = 2^(a−b) λ,  x' = 2^(−b/2) x,  A'X = R'
///
/// Both exponents are 0 if the largest entries of A and B are of a moderate size. Multiplications
/// by powers of two are exact, so a scaled problem has the solution that the problem itself would
/// have if numbers had no limits.
struct ProblemScaling {
  int A = 0;  ///< a
  int B = 0;  ///< b, an even number

  bool operator==(const ProblemScaling&) const = default;
};

/// The scaling that brings the largest entries of A and B to a size between 1 and 4 if they are far
/// from 1. Matrices that are not stored are left alone.
ProblemScaling scaling_of(const Problem& problem, const Request& request);

/// Scales `problem`, the interval of `request` and its tolerance, if that is absolute. Columns of
/// the constraints and of the initial guess of an eigenproblem, which matter only by their span,
/// are scaled one by one. Throws `ProblemError` if the right-hand sides then leave the range of
/// numbers. The solution would leave this range, too.
void scale(HostContext& context, Problem& problem, Request& request, const ProblemScaling& scaling);

/// `monitor` with the eigenvalues of the original problem in place of those of the scaled one.
Monitor unscaled(const Monitor& monitor, const ProblemScaling& scaling);

/// Replaces the solution of the scaled problem by that of the original one. If an eigenvalue, a
/// singular value or a vector then leaves the range of numbers, the status becomes `breakdown`, and
/// the reason names the value.
void unscale(Device& device, Solution& solution, const ProblemScaling& scaling);

}  // namespace heddle::detail
