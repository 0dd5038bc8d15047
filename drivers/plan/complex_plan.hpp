#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/plan/machine.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/plan/solve_plan.hpp>
#include <heddle/linalg/context/context.hpp>

/// Plans for problems with complex matrices.
namespace heddle::detail {

/// Refuses what is asked of a complex problem, or given with it, and is there for real matrices
/// only, as far as that can be told without the method.
template <class M, class X>
void check_for_complex(const ProblemOf<M, X>& problem, const Request& request);

/// Refuses a preconditioner without a form for complex matrices.
void check_preconditioner(const PreconditionerPlan& plan);

/// As `make_plan` of a real problem. Rows keep their order and their scale, and no null vectors are
/// looked for. Throws also for what is there for real matrices only: load factors, precisions below
/// double, orders of rows, null vectors, and preconditioners without a form for complex matrices.
SolvePlan make_plan(HostContext& host, const Machine& machine, const ComplexProblem& problem,
                    const Request& request);

}  // namespace heddle::detail
