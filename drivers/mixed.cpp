#include <heddle/drivers/mixed.hpp>
#include <heddle/drivers/precision.hpp>
#include <heddle/drivers/stages.hpp>
#include <utility>

namespace heddle::detail {
namespace {

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

  problem.guess_from_random |= problem.initial_guess.cols() == 0;
  problem.initial_guess = guess_from(host, first);
  first.vectors = {};
  Solution second = full(std::move(problem), remaining(request, first), continued(first, monitor));
  prepend(first, second, "in single precision");
  return second;
}

}  // namespace heddle::detail
