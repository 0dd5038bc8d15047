#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <heddle/apps/call_solver.hpp>
#include <heddle/apps/placed_problem.hpp>
#include <heddle/apps/precision.hpp>
#include <heddle/apps/solve.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <utility>

namespace heddle::apps {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Where a solve runs, and the host beside it.
template <class Ctx>
struct Place {
  HostContext& host;
  Ctx& context;
};

template <Scalar T, class Ctx>
Solution solve_in(Place<Ctx> on, ProblemInput<T> input, const Config& config,
                  const Monitor& monitor) {
  const Clock::time_point start = Clock::now();
  PlacedProblem<T, Ctx> problem = [&] {
    const PhaseScope phase(on.context, Phase::setup);
    return PlacedProblem<T, Ctx>(on.context, std::move(input), config);
  }();
  on.context.synchronize();

  Solution solution;
  solution.setup_seconds = seconds_since(start);
  auto solved = call_solver<T, Ctx>(on.context, problem, config, monitor);
  on.context.synchronize();
  solution.solve_seconds = seconds_since(start) - solution.setup_seconds;
  const Index block = solver_block_size(config, problem.sizes());
  solution.spmm_kernel = problem.A().plan().kernel(block);
  solution.spmm_reason = problem.A().plan().reason(block);
  solution.preconditioner = problem.preconditioner_cost();
  solution.result = std::move(solved.summary);
  solution.vectors = fetch(on.context, on.host, std::move(solved.vectors));
  if (finds_triplets(config)) {
    solution.left_vectors = fetch(on.context, on.host, std::move(solved.left_vectors));
  }
  return solution;
}

/// `record` of a second stage as it counts from the beginning of the first.
IterationRecord after(const Solution& first, IterationRecord record) {
  record.iteration += first.result.iterations;
  record.seconds += first.setup_seconds + first.solve_seconds;
  record.operator_applications += first.result.operator_applications;
  return record;
}

/// Puts the first stage's counts and history in front of the second's.
void prepend(const Solution& first, Solution& second) {
  std::vector<IterationRecord> history = first.result.history;
  for (const IterationRecord& record : second.result.history) {
    history.push_back(after(first, record));
  }
  second.result.history = std::move(history);
  second.result.reason = fmt::format("after {} iterations in single precision, {}",
                                     first.result.iterations, second.result.reason);
  second.result.iterations += first.result.iterations;
  second.result.operator_applications += first.result.operator_applications;
  second.result.inverse_applications += first.result.inverse_applications;
  second.result.matrix_passes += first.result.matrix_passes;
  second.result.orthogonalization += first.result.orthogonalization;
  second.preconditioner.seconds += first.preconditioner.seconds;
  second.setup_seconds += first.setup_seconds;
  second.solve_seconds += first.solve_seconds;
}

/// The first `count` columns of X in double.
MultiVector<double, HostSpace> widened(HostContext& context, const MultiVector<float, HostSpace>& X,
                                       Index count) {
  MultiVector<double, HostSpace> result(context, X.rows(), count);
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < count; ++j) result.view()(i, j) = X.view()(i, j);
  }
  return result;
}

/// Whether double precision can take over from a first stage that ended so.
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

/// Single precision as far as it reaches, then double from these vectors, within the same limits.
template <class Ctx>
Solution solve_mixed(Place<Ctx> on, ProblemInput<double> input, const Config& config,
                     const Monitor& monitor) {
  Config coarse = config;
  coarse.solver.criterion = Criterion::norm;
  coarse.solver.linear_criterion = LinearCriterion::relative;
  coarse.solver.tolerance = kDefaultTolerance<float>;
  Solution first = solve_in<float>(on, to_single(on.host, input), coarse, monitor);
  if (!worth_continuing(first.result.status)) return first;

  Config fine = config;
  fine.solver.max_iterations =
      std::max<Index>(1, fine.solver.max_iterations - first.result.iterations);
  fine.solver.time_limit_s = std::max(0.0, fine.solver.time_limit_s - first.solve_seconds);
  input.initial_guess = widened(on.host, std::get<MultiVector<float, HostSpace>>(first.vectors),
                                first.result.count());
  first.vectors = {};
  const Monitor continued = [&](const MonitorState& state) {
    const IterationRecord record = after(first, state.record);
    return monitor({record, state.nev, state.eigenvalues, state.residuals});
  };
  Solution second = solve_in<double>(on, std::move(input), fine, monitor ? continued : monitor);
  prepend(first, second);
  return second;
}

template <class Ctx>
Solution solve_on(HostContext& host, Ctx& context, ProblemInput<double> input, const Config& config,
                  const Monitor& monitor) {
  const Place<Ctx> on{host, context};
  switch (config.precision) {
    case Precision::full:
      return solve_in<double>(on, std::move(input), config, monitor);
    case Precision::single: {
      ProblemInput<float> rounded = to_single(on.host, input);
      input = {};
      return solve_in<float>(on, std::move(rounded), config, monitor);
    }
    case Precision::mixed:
      return solve_mixed(on, std::move(input), config, monitor);
  }
  return {};
}

}  // namespace

Solution solve_problem(Device& device, ProblemInput<double> input, const Config& config,
                       const Monitor& monitor) {
  return device.with_context([&](auto& context) {
    context.synchronize();
    context.profile().reset();
    Solution solution = solve_on(device.host(), context, std::move(input), config, monitor);
    solution.profile = context.profile();
    solution.peak_bytes = context.allocation_count().peak_bytes;
    return solution;
  });
}

}  // namespace heddle::apps
