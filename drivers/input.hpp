#pragma once

#include <heddle/drivers/matrix_checks.hpp>
#include <heddle/drivers/precision.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <string>

/// Checks and completes a problem and a request before a method solves them.
namespace heddle::detail {

/// Checks B and counts the infinite eigenvalues of the pencil, which the choice of a method depends
/// on. Throws `ProblemError` as `prepare` does.
void inspect_mass(HostContext& context, Problem& problem);

/// Throws `ProblemError` if A is empty, or if A is not square and `normal_equations` is false.
void check_shape(const Matrix& A, bool normal_equations);

/// The part of a message that names the length of a right-hand side, such as "has order 3".
std::string describe_rows(const Problem& problem);

/// The parts of `prepare` that read no entry of a matrix or a block: the kind of the problem, the
/// order of B, then sizes and options.
void check_kind(Problem& problem, const Request& request);
void check_order_of_mass(const Problem& problem);
void check_parts(HostContext& context, Problem& problem, const Request& request);

/// Checks `problem` and completes it with the transpose of A if `request` needs it. The method of
/// `request` has been chosen. Throws `ProblemError` if A is not square or not symmetric (unless
/// `normal_equations`), B has another order or cannot be positive semidefinite (see
/// `null_space_of_mass`), A and B have a common null vector (see `check_regular`), B is singular
/// and the method needs a definite one, a block has another length, the initial guess has another
/// width than the right-hand sides, or a part is set that the method does not read. Throws
/// `RequestError` for a field that the problem rules out, such as an nev too large for the order.
/// Throws as `check_precision` does. If `monitor` stops a check that may take long, this returns,
/// and the solve ends at its first look at the monitor.
void prepare(HostContext& context, Problem& problem, const Request& request,
             const Monitor& monitor = {});

}  // namespace heddle::detail
