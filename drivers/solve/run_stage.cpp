#include <algorithm>
#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/plan/row_order.hpp>
#include <heddle/drivers/solve/run_placed.hpp>
#include <heddle/drivers/solve/run_stage.hpp>
#include <heddle/drivers/solve/run_together.hpp>
#include <heddle/drivers/solve/scaled.hpp>
#include <heddle/drivers/solve/stages.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// A problem on its way through the transformations of a stage, with what is known of it and the
/// request for it.
struct Task {
  Problem problem;
  Facts facts;
  Request request;
};

/// Whether double precision can continue from a first stage that ended with `status`.
bool worth_continuing(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged:
    case SolveStatus::stagnated:
    case SolveStatus::breakdown:
    case SolveStatus::verification_failed:
      return true;
    case SolveStatus::max_iterations:
    case SolveStatus::time_limit:
    case SolveStatus::indefinite:
    case SolveStatus::interrupted:
      return false;
  }
  return false;
}

/// The request for the first solve of mixed precision.
Request coarse(Request request) {
  request.criterion = Criterion::norm;
  request.linear_criterion = LinearCriterion::relative;
  request.tolerance = kDefaultTolerance<float>;
  request.certify = Certify::no;
  return request;
}

/// One stage of a plan. Each function solves a task and calls the next one with what it makes of
/// it.
template <class Ctx>
class StageRun {
 public:
  StageRun(const Place<Ctx>& on, const PlanDetails& plan, const StagePlan& stage)
      : on_(on), plan_(plan), stage_(stage), host_(on.device.host()) {}

  Solution solve(Problem problem, const Monitor& monitor) const {
    Task task{std::move(problem), plan_.facts, stage_.request};
    task.problem.rhs = Block(plan_.consistent.of(task.problem.rhs));
    plan_.held.eliminate(host_, task.problem);
    complete(host_, task.problem);
    Solution solution = with_digits(std::move(task), monitor);
    plan_.held.put_back(on_.device.shared_host(), solution);
    plan_.consistent.report(solution);
    return solution;
  }

 private:
  /// Where rows were scaled, the criterion has judged residuals of the scaled problem. If those of
  /// the problem itself exceed it, a second solve has a smaller tolerance.
  Solution with_digits(Task task, const Monitor& monitor) const {
    if (!stage_.scaling.graded()) {
      const Request request = task.request;
      const double smallest = smallest_graded_row(task.problem, task.facts, request);
      Solution solution = scaled(std::move(task), monitor);
      if (smallest > 0) require_digits(request, solution, smallest);
      return solution;
    }
    Solution first = scaled(task, monitor);
    require_digits(task.request, first);
    const double excess = take_given_residuals(host_, task.problem, task.request, first);
    if (excess <= 1 || first.status != SolveStatus::converged) return first;
    Task again = task;
    again.problem.initial_guess = guess_from(host_, first);
    again.request = remaining(task.request, first);
    again.request.tolerance = 0.1 * tolerance_of(task.request) / excess;
    Solution second = scaled(std::move(again), continued(first, monitor));
    const bool met = take_given_residuals(host_, task.problem, task.request, second) <= 1;
    if (met) keep_verdict(first, second);
    require_digits(task.request, second);
    if (!met && second.status == SolveStatus::converged) {
      second.status = SolveStatus::verification_failed;
      second.reason += "; residuals of the problem without this scaling exceed the tolerance";
    }
    prepend(first, second, "of the scaled problem");
    return second;
  }

  Solution scaled(Task task, const Monitor& monitor) const {
    scale(host_, task.problem, task.facts, task.request, stage_.scaling);
    Solution solution = in_precision(std::move(task), unscaled(monitor, stage_.scaling));
    unscale(on_.device, solution, stage_.scaling);
    return solution;
  }

  Solution in_precision(Task task, const Monitor& monitor) const {
    switch (task.request.precision) {
      case Precision::full:
        return solved(on_, std::move(task.problem), task.facts, task.request, monitor);
      case Precision::single: {
        HostProblem<float> rounded = to_single(host_, task.problem);
        task.problem = {};
        return solved(on_, std::move(rounded), task.facts, task.request, monitor);
      }
      case Precision::mixed:
        return in_two_precisions(std::move(task), monitor);
    }
    return {};
  }

  /// First in single precision, then in double with the vectors of the first solve as guess. The
  /// limits of iterations and time hold for both together, and the counts include both.
  Solution in_two_precisions(Task task, const Monitor& monitor) const {
    Problem& problem = task.problem;
    Place<Ctx> whole = on_;  // process 0 needs all rows of the guess
    whole.keeps_vectors = false;
    Solution first =
        solved(whole, to_single(host_, problem), task.facts, coarse(task.request), monitor);
    if (!worth_continuing(first.status)) return first;
    problem.guess_from_random |= problem.initial_guess.cols() == 0;
    problem.initial_guess = guess_from(host_, first);
    first.vectors = {};
    Solution second = solved(on_, std::move(problem), task.facts, remaining(task.request, first),
                             continued(first, monitor));
    prepend(first, second, "in single precision");
    return second;
  }

  template <Scalar T>
  Solution solved(const Place<Ctx>& on, HostProblem<T> problem, const Facts& facts,
                  const Request& request, const Monitor& monitor) const {
    if (on.device.processes() > 1) {
      return run_together(on, std::move(problem), facts, stage_.preconditioner, request, monitor);
    }
    const Clock::time_point start = Clock::now();
    SharedProblem<T> all = keep(host_, std::move(problem), facts, plan_.row_order);
    const double ordering_seconds = seconds_since(start);
    Solution solution = run_shared(on, std::move(all), stage_.preconditioner,
                                   request_in_order(request, plan_.row_order), monitor);
    solution.setup_seconds += ordering_seconds;
    return solution;
  }

  const Place<Ctx>& on_;
  const PlanDetails& plan_;
  const StagePlan& stage_;
  HostContext& host_;
};

}  // namespace

template <class Ctx>
Solution run_stage(const Place<Ctx>& on, Problem problem, const PlanDetails& plan,
                   const StagePlan& stage, const Monitor& monitor) {
  Device& device = on.device;
  on.context.synchronize();
  on.context.profile().reset();
  Place<Ctx> place = on;
  place.keeps_vectors &=
      device.processes() > 1 && stage.scaling.changes_nothing() && plan.held.empty();
  Solution solution = StageRun<Ctx>(place, plan, stage).solve(std::move(problem), monitor);
  report_stage(device, on.context, plan, stage, solution);
  return solution;
}

template Solution run_stage(const Place<HostContext>&, Problem, const PlanDetails&,
                            const StagePlan&, const Monitor&);
#ifdef HEDDLE_HAS_CUDA
template Solution run_stage(const Place<CudaContext>&, Problem, const PlanDetails&,
                            const StagePlan&, const Monitor&);
#endif

}  // namespace heddle::detail
