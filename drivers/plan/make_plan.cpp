#include <heddle/drivers/inspect/inspect.hpp>
#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/plan/buckling.hpp>
#include <heddle/drivers/plan/certificate.hpp>
#include <heddle/drivers/plan/checks.hpp>
#include <heddle/drivers/plan/make_plan.hpp>
#include <heddle/drivers/plan/row_order.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// Inspects the problem. Checks that read no entry come first.
Facts facts_about(HostContext& host, const Machine& machine, const Problem& problem,
                  const Request& request, const Monitor& monitor) {
  Facts facts = shape_of(problem, machine.processes);
  if (request.method != Method::automatic) check_kind(facts, request, false);
  check_shapes(facts);
  inspect(host, problem, request, facts, monitor);
  return facts;
}

FactorCost factor_cost(const Problem& problem) {
  const CsrView<double, HostSpace> B = problem.B ? problem.B->view() : CsrView<double, HostSpace>{};
  return estimate_factor_cost(problem.A.view(), B);
}

MethodChoice method_for(const Machine& machine, const Problem& problem, const Facts& facts,
                        const Request& request) {
  MethodChoice choice = choose_method(request, facts, [&] {
    const double per_row = static_cast<double>(facts.A.nnz) / static_cast<double>(facts.order());
    return InverseEstimate{factor_cost(problem), problem.A.largest() * per_row};
  });
  choice.request = with_block_size(choice.request, facts.sizes(), !machine.on_gpu);
  if (request.method == Method::automatic) check_kind(facts, choice.request, true);
  return choice;
}

/// Sets what becomes of the right-hand sides of a linear system, and the scaling of all stages.
void decide_transformations(HostContext& host, const Problem& problem, PlanDetails& plan) {
  StagePlan& first = plan.stages.front();
  plan.consistent = ConsistentRhs(host, problem.rhs, plan.facts, first.request);
  first.request.tolerance = plan.consistent.tolerance(first.request);
  plan.held = HeldRows(host, problem.A, plan.consistent.of(problem.rhs), plan.facts, first.request);
  for (StagePlan& stage : plan.stages) {
    stage.scaling = scaling_of(problem, plan.facts, stage.request, plan.held);
  }
}

}  // namespace

SolvePlan make_plan(HostContext& host, const Machine& machine, const Problem& problem,
                    const Request& asked, const Monitor& monitor) {
  const Request request = with_pairs(
      problem.geometric_stiffness ? load_factor_request(asked) : asked, problem.rhs.cols() > 0);
  PlanDetails plan{.facts = facts_about(host, machine, problem, request, monitor),
                   .on_gpu = machine.on_gpu};
  const Facts& facts = plan.facts;
  const MethodChoice choice = method_for(machine, problem, facts, request);
  plan.method_reason = choice.reason;
  plan.stages = stages_of(choice, facts, machine.on_gpu);
  const StagePlan& first = plan.stages.front();
  check_found(machine, facts, first.request, first.preconditioner);
  check_row_order(first.request, facts, problem.A, first.preconditioner);
  check_precision(problem, first.request);
  plan.memory = estimate_memory(facts, first.request, first.preconditioner, machine.on_gpu);
  check_memory(plan.memory, first.request, machine);
  if (needs_factor_cost(first, facts)) plan.factor = factor_cost(problem);
  check_certify_memory(first.request, plan.factor);
  plan.row_order = choose_row_order(host, machine, facts, problem.A, first.request,
                                    first.preconditioner, plan.memory.host, monitor);
  const Request settled = first.request;  // with the tolerance that was asked for
  decide_transformations(host, problem, plan);
  SolvePlan made = plan_of(std::move(plan));
  made.request = settled;
  return made;
}

}  // namespace heddle::detail
