#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/solvers/preconditioners/options.hpp>

/// Vectors that A nearly maps to zero away from the boundary, for preconditioners.
namespace heddle::detail {

/// Checks `near_null`, which must not be zero, and `coordinates` of `problem`. Replaces coordinates
/// by the rigid body motions of the nodes, and, where neither is given, takes the null vectors that
/// the graph of A shows, with ones in rows where all of them are 0. Throws `ProblemError` if they
/// do not fit A.
void prepare_near_null(HostContext& context, Problem& problem);

/// What is known of A. Refers to the memory of `problem`.
NearNullSpace near_null_of(const Problem& problem) noexcept;

}  // namespace heddle::detail
