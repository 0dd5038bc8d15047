#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/mixed.hpp>
#include <heddle/drivers/precision.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// `record` of the second stage, with counts from the beginning of the first stage.
IterationRecord after(const Solution& first, IterationRecord record) {
  record.iteration += first.iterations;
  record.seconds += first.setup_seconds + first.solve_seconds;
  record.operator_applications += first.operator_applications;
  return record;
}

/// Puts the counts and the history of the first stage in front of those of the second.
void prepend(const Solution& first, Solution& second) {
  std::vector<IterationRecord> history = first.history;
  for (const IterationRecord& record : second.history) history.push_back(after(first, record));
  second.history = std::move(history);
  second.reason =
      fmt::format("after {} iterations in single precision, {}", first.iterations, second.reason);
  second.iterations += first.iterations;
  second.operator_applications += first.operator_applications;
  second.inverse_applications += first.inverse_applications;
  second.matrix_passes += first.matrix_passes;
  second.orthogonalization += first.orthogonalization;
  second.preconditioner.seconds += first.preconditioner.seconds;
  second.setup_seconds += first.setup_seconds;
  second.solve_seconds += first.solve_seconds;
}

/// The first `count` columns of X in double.
Block widened(HostContext& context, const HostBlock<float>& X, Index count) {
  MultiVector<double, HostSpace> result(context, X.rows(), count);
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < count; ++j) result.view()(i, j) = X.view()(i, j);
  }
  return Block(std::move(result));
}

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

}  // namespace

Solution solve_mixed(HostContext& host, Problem problem, const Request& request,
                     const Monitor& monitor, const SolveIn<float>& single,
                     const SolveIn<double>& full) {
  Request coarse = request;
  coarse.criterion = Criterion::norm;
  coarse.linear_criterion = LinearCriterion::relative;
  coarse.tolerance = kDefaultTolerance<float>;
  Solution first = single(to_single(host, problem), coarse, monitor);
  if (!worth_continuing(first.status)) return first;

  Request fine = request;
  fine.max_iterations = std::max<Index>(1, fine.max_iterations - first.iterations);
  fine.time_limit_s = std::max(0.0, fine.time_limit_s - first.solve_seconds);
  problem.initial_guess = widened(host, std::get<HostBlock<float>>(first.vectors), first.count());
  first.vectors = {};
  const Monitor continued = monitor.with_iteration([&](const MonitorState& state) {
    const IterationRecord record = after(first, state.record);
    return monitor.iteration({record, state.nev, state.eigenvalues, state.residuals});
  });
  Solution second = full(std::move(problem), fine, monitor.iteration ? continued : monitor);
  prepend(first, second);
  return second;
}

}  // namespace heddle::detail
