#pragma once

#include <heddle/apps/problem.hpp>

/// A problem in the precision that solves it.
namespace heddle::apps {

/// Throws `InputError` that names the file (`ConfigError` for a generated matrix) where rounding to
/// single precision would lose more than digits: a value beyond its range; a matrix, or a column of
/// a block, whose entries are all so small that what underflows is not negligible beside the
/// largest; a diagonal entry of a symmetric matrix that underflows, without which it may be
/// singular. Least squares need the same of AᵀA, in double precision, too.
void check_precision(const ProblemInput<double>& input, const Config& config);

/// `input` rounded to single precision.
ProblemInput<float> to_single(HostContext& context, const ProblemInput<double>& input);

}  // namespace heddle::apps
