#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/solvers/preconditioners/options.hpp>

/// Vectors that A nearly maps to zero away from the boundary, for preconditioners.
namespace heddle::detail {

/// Checks `near_null`, which must not be zero, and `coordinates` of `problem`. Replaces coordinates
/// by the rigid body motions of the nodes, and, where neither is given, takes the null vectors that
/// the graph of A shows, with ones in rows where all of them are 0. Throws `ProblemError` if they
/// do not fit A.
void prepare_near_null(HostContext& context, Problem& problem);

/// The unknowns per node of `problem`, or those that `request` asks a preconditioner to assume. 0:
/// not known.
Index known_unknowns(const Request& request, const Problem& problem);

/// Sets `unknowns` of a problem that several processes will share, as asked, else from the pattern
/// of a stored A, so that `share` leaves the unknowns of a node together.
void find_nodes(HostContext& context, const Request& request, Problem& problem);

/// What is known of A. Refers to the memory of `problem`.
NearNullSpace near_null_of(const Problem& problem) noexcept;

}  // namespace heddle::detail
