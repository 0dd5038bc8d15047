#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/scaling.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>

/// Solves a problem as a scaled one.
namespace heddle::detail {

/// Scales `problem`, the interval of `request` and its tolerance, if that is absolute. Columns of
/// the constraints and of the initial guess of an eigenproblem, which matter only by their span,
/// are scaled one by one. Where rows are graded, `request` asks for the inverse. Throws
/// `ProblemError` if the right-hand sides then leave the range of numbers. The solution would leave
/// this range, too.
template <WideScalar W>
void scale(HostContext& context, HostProblem<W>& problem, Facts& facts, Request& request,
           const ProblemScaling& scaling);

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
/// matrix limits it. The reason names the first one. Inside a spectrum, a value that is smaller
/// than `smallest`, that of the smallest row, needs digits of `smallest` only. In single precision,
/// a bound may be as large as the value.
void require_digits(const Request& request, Solution& solution, double smallest = 0);

}  // namespace heddle::detail
