#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/details.hpp>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <string>
#include <string_view>
#include <utility>

/// Solves of two stages, of which the second continues from the vectors of the first.
namespace heddle::detail {

/// Throws `InvalidArgument` if `plan` was made for a problem of another shape than `given`, or for
/// another device, or is empty.
void check_plan(const Device& device, const Facts& given, const SolvePlan& plan);

/// Whether a second stage of a plan may reach what a solve by LOBPCG with `request` did not.
bool is_unfinished(const Request& request, const Solution& first);

/// Adds to `problem` what the methods need: the lengths of empty blocks, and Aᴴ for normal
/// equations.
template <WideScalar W>
void complete(HostContext& context, HostProblem<W>& problem);

/// A monitor for the second stage that adds the counts of `first`, which must outlive it. Empty
/// where `monitor` is.
Monitor continued(const Solution& first, const Monitor& monitor);

/// Puts the counts and the history of the first stage in front of those of the second. `stage`:
/// what the first stage was, such as "in single precision".
void prepend(const Solution& first, Solution& second, std::string_view stage);

/// Gives a second stage that ended at rounding the verdict of the first one, whose tolerance was
/// larger and whose pairs passed.
void keep_verdict(const Solution& first, Solution& second);

/// `request` for a second stage: with the iterations and the time that the first one has left.
Request remaining(const Request& request, const Solution& first);

/// The vectors of a solution as an initial guess in double, real or complex as they are.
template <WideScalar W = double>
HostBlock<W> guess_from(HostContext& context, const Solution& first);

/// The solution in a result.
inline Solution& solution_of(Solution& result) noexcept { return result; }
template <Scalar T, class Space>
Solution& solution_of(ResidentSolution<T, Space>& result) noexcept {
  return result.solution;
}

/// Carries out the stages of a plan. run_stage(stage, before, monitor) carries out one, where
/// `before` is the result that it goes on from, null for the first one. The first result is kept
/// where the second stage does not converge after it has, or needs more memory than there is.
template <class Result, class RunStage>
Result run_stages(const PlanDetails& plan, const Monitor& monitor, const RunStage& run_stage) {
  Result first = run_stage(plan.stages.front(), static_cast<Result*>(nullptr), monitor);
  Solution& found = solution_of(first);
  found.method_reason = plan.method_reason;
  if (plan.stages.size() == 1) return first;
  StagePlan stage = plan.stages[1];
  if (!is_unfinished(stage.request, found)) return first;
  stage.request.time_limit_s = remaining(stage.request, found).time_limit_s;
  try {
    Result second = run_stage(stage, &first, continued(found, monitor));
    Solution& better = solution_of(second);
    if (found.status == SolveStatus::converged && better.status != SolveStatus::converged) {
      return first;
    }
    prepend(found, better, "of LOBPCG, which did not reach the digits");
    better.method_reason =
        plan.method_reason +
        "; LOBPCG did not reach the digits, block Lanczos continued with an inverse";
    return second;
  } catch (const OutOfMemory& error) {
    found.reason +=
        std::string("; block Lanczos with an inverse would need more memory: ") + error.what();
    return first;
  }
}

}  // namespace heddle::detail
