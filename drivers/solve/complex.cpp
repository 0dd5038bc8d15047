#include <heddle/drivers/place/place.hpp>
#include <heddle/drivers/plan/held_rows.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/run_placed.hpp>
#include <heddle/drivers/solve/run_shared.hpp>
#include <heddle/drivers/solve/run_together.hpp>
#include <heddle/drivers/solve/scaled.hpp>
#include <heddle/drivers/solve/stages.hpp>
#include <type_traits>
#include <utility>

// Solves of problems with complex matrices.
namespace heddle {
namespace {

using Complex = std::complex<double>;

template <class Ctx>
Solution solved(const detail::Place<Ctx>& on, ComplexProblem problem, const detail::Facts& facts,
                const detail::PreconditionerPlan& plan, const Request& request,
                const Monitor& monitor) {
  if (on.device.processes() > 1) {
    return detail::run_together(on, std::move(problem), facts, plan, request, monitor);
  }
  return detail::run_shared<Complex>(on, {.problem = std::move(problem), .facts = facts}, plan,
                                     request, monitor);
}

/// Carries out one stage of a plan.
template <class Ctx>
Solution run_stage(const detail::Place<Ctx>& on, ComplexProblem problem,
                   const detail::PlanDetails& plan, const detail::StagePlan& stage,
                   const Monitor& monitor) {
  HostContext& host = on.device.host();
  on.context.synchronize();
  on.context.profile().reset();
  detail::complete(host, problem);
  detail::Facts facts = plan.facts;
  Request request = stage.request;
  const detail::HeldRowsOf<Complex> held(host, problem.A, problem.rhs, facts, request);
  held.eliminate(host, problem);
  const detail::ProblemScaling scaling = detail::scaling_of(problem, request);
  detail::scale(host, problem, facts, request, scaling);
  Solution solution = solved(on, std::move(problem), facts, stage.preconditioner, request,
                             detail::unscaled(monitor, scaling));
  detail::unscale(on.device, solution, scaling);
  held.put_back(on.device.shared_host(), solution);
  detail::report_stage(on.device, on.context, plan, stage, solution);
  return solution;
}

}  // namespace

Solution run(Device& device, ComplexProblem problem, const SolvePlan& plan,
             const Monitor& monitor) {
  detail::check_plan(device, detail::shape_of(problem, device.processes()), plan);
  const detail::PlanDetails& details = *plan.details;
  return device.with_context([&](auto& context) {
    const detail::Place<std::remove_reference_t<decltype(context)>> on{device, context};
    return detail::run_stages<Solution>(
        details, monitor,
        [&](const detail::StagePlan& stage, const Solution* before, const Monitor& watch) {
          if (before != nullptr) {
            problem.initial_guess = detail::guess_from<Complex>(device.host(), *before);
          }
          return run_stage(on, problem, details, stage, watch);
        });
  });
}

Solution detail::run_keeping_vectors(Device& device, ComplexProblem problem, const SolvePlan& plan,
                                     const Monitor& monitor) {
  return run(device, std::move(problem), plan, monitor);
}

}  // namespace heddle
