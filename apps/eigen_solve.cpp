#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <heddle/apps/eigen_solve.hpp>
#include <heddle/apps/eigensolver.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/preconditioners/chebyshev.hpp>
#include <heddle/solvers/preconditioners/jacobi.hpp>
#include <heddle/solvers/sparse_operator.hpp>
#include <memory>
#include <utility>

namespace heddle::apps {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A problem in the memory of the context that solves it.
template <Scalar T, class Ctx>
struct PlacedProblem {
  PlacedProblem(Ctx& context, EigenInput<T> input, const Config& config)
      : A(context, place(context, std::move(input.A)), config.spmm),
        constraints(place(context, std::move(input.constraints))),
        initial_guess(place(context, std::move(input.initial_guess))) {
    if (input.B) B.emplace(context, place(context, std::move(*input.B)), config.spmm);
    const PreconditionerPlan plan = plan_preconditioner(config, B.has_value());
    const auto matrix = plan.of_mass ? B->matrix() : A.matrix();
    if (plan.type == PreconditionerChoice::jacobi) {
      preconditioner = std::make_unique<JacobiPreconditioner<T, Ctx>>(context, matrix);
    } else if (plan.type == PreconditionerChoice::chebyshev) {
      preconditioner = std::make_unique<ChebyshevPreconditioner<T, Ctx>>(context, matrix,
                                                                         plan.degree, config.spmm);
    }
  }

  EigenProblem<T, Ctx> view() {
    return {&A, B ? &*B : nullptr, preconditioner.get(), std::as_const(constraints).view(),
            std::as_const(initial_guess).view()};
  }

  SparseOperator<T, Ctx> A;
  std::optional<SparseOperator<T, Ctx>> B;
  MultiVector<T, typename Ctx::Space> constraints, initial_guess;
  std::unique_ptr<Preconditioner<T, Ctx>> preconditioner;  // null: none
};

/// Where a solve runs, and the host beside it.
template <class Ctx>
struct Place {
  HostContext& host;
  Ctx& context;
};

template <Scalar T, class Ctx>
EigenSolution solve_in(Place<Ctx> on, EigenInput<T> input, const Config& config,
                       const Monitor& monitor) {
  const Clock::time_point start = Clock::now();
  PlacedProblem<T, Ctx> problem = [&] {
    const PhaseScope phase(on.context, Phase::setup);
    return PlacedProblem<T, Ctx>(on.context, std::move(input), config);
  }();
  on.context.synchronize();

  EigenSolution solution;
  solution.setup_seconds = seconds_since(start);
  auto result = run_solver<T, Ctx>(on.context, problem.view(), config, monitor);
  on.context.synchronize();
  solution.solve_seconds = seconds_since(start) - solution.setup_seconds;
  const Index block = solver_block_size(config, problem.A.rows(), problem.constraints.cols());
  solution.spmm_kernel = problem.A.plan().kernel(block);
  solution.spmm_reason = problem.A.plan().reason(block);
  solution.result = summarize(result);
  solution.eigenvectors = fetch(on.context, on.host, std::move(result.eigenvectors));
  return solution;
}

/// `record` of a second stage as it counts from the beginning of the first.
IterationRecord after(const EigenSolution& first, IterationRecord record) {
  record.iteration += first.result.iterations;
  record.seconds += first.setup_seconds + first.solve_seconds;
  record.operator_applications += first.result.operator_applications;
  return record;
}

/// Puts the first stage's counts and history in front of the second's.
void prepend(const EigenSolution& first, EigenSolution& second) {
  std::vector<IterationRecord> history = first.result.history;
  for (const IterationRecord& record : second.result.history) {
    history.push_back(after(first, record));
  }
  second.result.history = std::move(history);
  second.result.reason = fmt::format("after {} iterations in single precision, {}",
                                     first.result.iterations, second.result.reason);
  second.result.iterations += first.result.iterations;
  second.result.operator_applications += first.result.operator_applications;
  OrthoCounts& counts = second.result.orthogonalization;
  const OrthoCounts& before = first.result.orthogonalization;
  counts.cholqr += before.cholqr;
  counts.cholqr2 += before.cholqr2;
  counts.shifted += before.shifted;
  counts.svqb += before.svqb;
  counts.dropped += before.dropped;
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
EigenSolution solve_mixed(Place<Ctx> on, EigenInput<double> input, const Config& config,
                          const Monitor& monitor) {
  Config coarse = config;
  coarse.solver.criterion = Criterion::norm;
  coarse.solver.tolerance = kDefaultTolerance<float>;
  EigenSolution first = solve_in<float>(on, to_single(on.host, input, config), coarse, monitor);
  if (!worth_continuing(first.result.status)) return first;

  Config fine = config;
  fine.solver.max_iterations =
      std::max<Index>(1, fine.solver.max_iterations - first.result.iterations);
  fine.solver.time_limit_s = std::max(0.0, fine.solver.time_limit_s - first.solve_seconds);
  input.initial_guess =
      widened(on.host, std::get<MultiVector<float, HostSpace>>(first.eigenvectors),
              static_cast<Index>(first.result.eigenvalues.size()));
  first.eigenvectors = {};
  const Monitor continued = [&](const MonitorState& state) {
    const IterationRecord record = after(first, state.record);
    return monitor({record, state.nev, state.eigenvalues, state.residuals});
  };
  EigenSolution second =
      solve_in<double>(on, std::move(input), fine, monitor ? continued : monitor);
  prepend(first, second);
  return second;
}

template <class Ctx>
EigenSolution solve_on(HostContext& host, Ctx& context, EigenInput<double> input,
                       const Config& config, const Monitor& monitor) {
  const Place<Ctx> on{host, context};
  switch (config.precision) {
    case Precision::full:
      return solve_in<double>(on, std::move(input), config, monitor);
    case Precision::single: {
      EigenInput<float> rounded = to_single(on.host, input, config);
      input = {};
      return solve_in<float>(on, std::move(rounded), config, monitor);
    }
    case Precision::mixed:
      return solve_mixed(on, std::move(input), config, monitor);
  }
  return {};
}

}  // namespace

EigenSolution solve_eigenproblem(Device& device, EigenInput<double> input, const Config& config,
                                 const Monitor& monitor) {
  return device.with_context([&](auto& context) {
    context.synchronize();
    context.profile().reset();
    EigenSolution solution = solve_on(device.host(), context, std::move(input), config, monitor);
    solution.profile = context.profile();
    solution.peak_bytes = context.allocation_count().peak_bytes;
    return solution;
  });
}

}  // namespace heddle::apps
