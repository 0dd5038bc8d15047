#pragma once

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>

/// Conversion of a problem to the precision of the solve.
namespace heddle::detail {

/// The exponent of the power of two that brings `largest` to a size between 1 and 2. 0 if squares
/// of entries up to this size stay in the range of the precision.
int moderating_exponent(double largest, Precision precision);

/// Throws `ProblemError` if rounding to single precision would overflow, or underflow to an error
/// that is not negligible:
/// - a value exceeds the range of the precision,
/// - all entries of a matrix or of a column of a block are so small that underflowing entries are
///   not negligible relative to the largest one,
/// - a diagonal entry of a symmetric matrix underflows, so that the matrix may become singular.
///
/// For least squares, AᵀA must meet the same conditions, in double precision, too.
void check_precision(const Problem& problem, const Request& request);

/// `problem` rounded to single precision. Callables are not rounded: all matrices must be stored.
HostProblem<float> to_single(HostContext& context, const Problem& problem);

}  // namespace heddle::detail
