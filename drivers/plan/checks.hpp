#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/plan/machine.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>

/// Checks of a request against the facts about a problem, in the order in which a plan makes them.
/// A part of the problem that does not fit throws `ProblemError`, a field of the request that the
/// problem or another field rules out `RequestError`.
namespace heddle::detail {

/// Checks the request by `check_request`, and that the method, which has been chosen, solves this
/// kind of problem. `chosen`: as there.
void check_kind(const Facts& facts, const Request& request, bool chosen);

/// Checks the sizes of the matrices and the lengths of the blocks against those of A.
void check_shapes(const Facts& facts);

/// Checks the rest, which depends on the machine or on what inspection has found: the kernel, a
/// singular B, the library of factors, the preconditioner, and sizes such as nev. The method has
/// been chosen.
void check_found(const Machine& machine, const Facts& facts, const Request& request,
                 const PreconditionerPlan& plan);

}  // namespace heddle::detail
