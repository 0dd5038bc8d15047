#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <memory>

/// Null vectors that are known before a solve.
namespace heddle::detail {

/// Whether the result of a solve by `request`, or a choice in it, may depend on null vectors of A:
/// of eigenproblems at the smallest end, and of linear systems for which `auto` chooses a
/// preconditioner.
bool may_concern_null_space(const Request& request);

/// The null vectors of A that its graph shows, if `request` asks for the smallest end and they may
/// be among the wanted pairs, or for a linear system. The choice of a method or of a preconditioner
/// depends on them. Of a linear system they are known only if they are all null vectors. Otherwise
/// it may have the constant vector, which then is not known to span the null space. Null: there are
/// none. Throws `ProblemError` if `null_vector_sizes` has another length than A.
std::shared_ptr<const GraphNullSpace> known_null_space(HostContext& context, const Problem& problem,
                                                       const Facts& facts, const Request& request);

}  // namespace heddle::detail
