#pragma once

#include <heddle/drivers/inspect/facts.hpp>

/// Vectors that A nearly maps to zero away from the boundary, for preconditioners.
namespace heddle::detail {

/// Checks `facts.near_null`, as the problem has it, and `coordinates`. Makes the rigid body motions
/// of the nodes from coordinates. Where neither is given, takes the null vectors that the graph of
/// A shows, with ones in rows where all of them are 0. Throws `ProblemError` if they do not fit A,
/// or are zero or not finite.
void find_near_null(HostContext& context, const Block& coordinates, Facts& facts);

/// Sets `facts.unknowns` of a problem that several processes will share, as asked, else from the
/// pattern of a stored A, so that `share` leaves the unknowns of a node together.
void find_nodes(HostContext& context, const Request& request, const Matrix& A, Facts& facts);

}  // namespace heddle::detail
