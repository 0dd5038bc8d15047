#pragma once

#include <heddle/drivers/matrix_checks.hpp>
#include <heddle/drivers/precision.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <string>

/// From what a caller gives to what a method works on.
namespace heddle::detail {

/// `request` with its method and its limit of iterations chosen for `problem`.
Request choose_method(const Request& request, const ProblemSizes& problem);

/// Throws `ProblemError` unless A is square and has rows, or, with `normal_equations`, has rows and
/// columns.
void check_shape(const Matrix& A, bool normal_equations);

/// How messages tell of the length that a column of the right-hand sides has: "has order 3".
std::string describe_rows(const Problem& problem);

/// Checks `problem` and completes it with the transpose that `request`, its method chosen, needs.
/// Throws `ProblemError` for A not square or not symmetric (unless `normal_equations`), B of
/// another order or shown not to be positive definite by a diagonal entry or a 2×2 principal minor,
/// blocks of other length, parts that the method does not read, a guess of another width than the
/// right-hand sides; `RequestError` for a field that the problem rules out, such as nev too large
/// for the order. `check_precision` holds, too.
void prepare(HostContext& context, Problem& problem, const Request& request);

}  // namespace heddle::detail
