#pragma once

#include <algorithm>
#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/details.hpp>
#include <heddle/drivers/solve/run_method.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A solve in the memory of a context, from a problem on the host or there.
namespace heddle::detail {

/// Adds to the solution what the preconditioner of a solve tells of itself.
void report_preconditioner(PreconditionerReport report, Solution& solution);

/// Adds what the sizes tell to the solution: infinite eigenvalues and null vectors.
void report_sizes(const ProblemSizes& sizes, Solution& solution);

/// Says so if the norms of A and B are those of a mass and a stiffness. Norms may be unknown.
void report_norms(std::optional<double> norm_A, std::optional<double> norm_B, Solution& solution);

/// Adds to the solution of a buckling problem what its end means for a structure.
void report_load_factors(const Request& request, Solution& solution);

/// √λ/2π with the sign of λ, for eigenvalues λ = ω².
std::vector<double> frequencies_of(const std::vector<double>& eigenvalues);

/// Solves `problem`, a `HostProblem` or a `ResidentProblem` with these facts, in `context`, and
/// reports all of it but the vectors, which the result holds in the memory of the context. The
/// method of `request` has been chosen.
template <Scalar T, class Ctx, class Source>
Solved<T, typename Ctx::Space> run_placed(Ctx& context, HostContext& host, Source problem,
                                          const Facts& facts, const PreconditionerPlan& plan,
                                          const Request& request, const Monitor& monitor) {
  const Clock::time_point start = Clock::now();
  monitor.begin_stage("setting up");
  const ProblemSizes sizes = facts.sizes();
  const MethodKind& method = method_of(request, sizes);
  PlacedProblem<T, Ctx> placed = [&] {
    const PhaseScope phase(context, Phase::setup);
    return PlacedProblem<T, Ctx>(context, host, std::move(problem), facts, request, plan,
                                 method.memory_bytes(request, sizes, sizeof(T)),
                                 method.block_size(request, sizes), monitor);
  }();
  context.synchronize();
  const double setup_seconds = seconds_since(start);

  monitor.begin_stage("first iteration");
  Solved<T, typename Ctx::Space> solved =
      run_method(method.algorithm, context, placed, request, monitor);
  context.synchronize();
  Solution& solution = solved.solution;
  solution.setup_seconds = setup_seconds;
  solution.solve_seconds = seconds_since(start) - setup_seconds;
  report_sizes(placed.sizes(), solution);
  if (facts.B.given && !facts.buckling) {
    const EigenProblem<T, Ctx> pencil = placed.eigenproblem();
    report_norms(pencil.A->one_norm(), pencil.B->one_norm(), solution);
  }
  solution.method = method.name;
  solution.block_size = method.block_size(request, placed.sizes());
  if (const SparseOperator<T, Ctx>* A = placed.stored_A()) {
    solution.spmm_kernel = A->plan().kernel(solution.block_size);
    solution.spmm_reason = A->plan().reason(solution.block_size);
  }
  solution.factor_library = placed.factor_library();
  if (const PreconditionerSchedule<T, Ctx>* const schedule = placed.schedule()) {
    report_preconditioner(schedule->report(), solution);
  }
  return solved;
}

/// Adds to the solution of a stage what the plan and the device know of it.
template <class Ctx>
void report_stage(const Device& device, Ctx& context, const PlanDetails& plan,
                  const StagePlan& stage, Solution& solution) {
  if (plan.facts.buckling) report_load_factors(stage.request, solution);
  if (plan.facts.B.given && !plan.facts.buckling)
    solution.frequencies = frequencies_of(solution.eigenvalues);
  if (solution.preconditioner_name.empty()) {
    solution.preconditioner_name = stage.preconditioner_name;
  }
  solution.row_order = row_order_name(plan.row_order.order);
  solution.row_order_reason = plan.row_order.reason;
  solution.device = device.kind();
  solution.device_note = device.note();
  solution.profile = context.profile();
  solution.peak_bytes = context.allocation_count().peak_bytes;
  solution.peak_bytes_most = std::max(solution.peak_bytes_most, solution.peak_bytes);
}

}  // namespace heddle::detail
