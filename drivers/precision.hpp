#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>

/// A problem in the precision that solves it.
namespace heddle::detail {

/// Throws `ProblemError` where rounding to single precision would lose more than digits: a value
/// beyond its range; a matrix, or a column of a block, whose entries are all so small that what
/// underflows is not negligible beside the largest; a diagonal entry of a symmetric matrix that
/// underflows, without which it may be singular. Least squares need the same of AᵀA, in double
/// precision, too.
void check_precision(const Problem& problem, const Request& request);

/// `problem` rounded to single precision. Callables are not rounded: all matrices must be stored.
HostProblem<float> to_single(HostContext& context, const Problem& problem);

}  // namespace heddle::detail
