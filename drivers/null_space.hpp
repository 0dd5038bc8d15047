#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>

/// Null vectors that are known before a solve.
namespace heddle::detail {

/// Whether the result of a solve by `request`, or a choice in it, may depend on null vectors of A:
/// of eigenproblems at the smallest end, and of linear systems for which `auto` chooses a
/// preconditioner.
bool may_concern_null_space(const Request& request);

/// Finds the null vectors of A that its graph shows, if `request` asks for the smallest end and
/// they may be among the wanted pairs, or for a linear system. The
/// choice of a method or of a preconditioner depends on them. Of a linear system they are kept only
/// if they are all null vectors. Otherwise it may have the constant vector, which then is not known
/// to span the null space.
/// Throws `ProblemError` if `null_vector_sizes` has another length than A.
void inspect_null_space(HostContext& context, Problem& problem, const Request& request);

/// Whether all pairs that `request` wants are null vectors that are known before the solve. The
/// method of `request` has been chosen.
bool all_known(const Request& request, const ProblemSizes& sizes);

}  // namespace heddle::detail
