#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/solve/stages.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <utility>
#include <variant>

namespace heddle::detail {
namespace {

/// `record` of the second stage, with counts from the beginning of the first stage.
IterationRecord after(const Solution& first, IterationRecord record) {
  record.iteration += first.iterations;
  record.seconds += first.setup_seconds + first.solve_seconds;
  record.operator_applications += first.operator_applications;
  return record;
}

}  // namespace

void check_plan(const Device& device, const Facts& given, const SolvePlan& plan) {
  if (!plan.details) throw InvalidArgument("run: the plan is empty: make it by plan");
  const Facts& planned = plan.details->facts;
  const auto same = [](const auto& a, const auto& b) {
    return a.rows == b.rows && a.cols == b.cols;
  };
  const bool fits = given.processes == planned.processes && same(given.A, planned.A) &&
                    same(given.B, planned.B) && same(given.rhs, planned.rhs) &&
                    given.A.nnz == planned.A.nnz &&
                    given.normal_equations == planned.normal_equations &&
                    given.complex == planned.complex && plan.details->on_gpu == !device.is_host();
  if (!fits) throw InvalidArgument("run: the plan was made for another problem or device");
}

bool is_unfinished(const Request& request, const Solution& first) {
  const bool limited = request.max_iterations < EigenOptions{}.max_iterations;
  return first.count() > 0 && (first.status == SolveStatus::stagnated ||
                               first.status == SolveStatus::verification_failed ||
                               (first.status == SolveStatus::max_iterations && !limited) ||
                               first.inverse_reaches_more_digits);
}

template <WideScalar W>
void complete(HostContext& context, HostProblem<W>& problem) {
  const auto give_length = [](HostBlock<W>& block, Index length) {
    if (block.cols() == 0)
      block = HostBlock<W>(ConstBlockView<W, HostSpace>(nullptr, length, 0, 0));
  };
  give_length(problem.constraints, problem.A.rows());
  give_length(problem.initial_guess, problem.A.cols());
  give_length(problem.rhs, problem.A.rows());
  if (!problem.normal_equations) problem.A_transposed.reset();
  if (!problem.normal_equations || problem.A_transposed) return;
  const CsrView<W, HostSpace> A = problem.A.view();
  const bool symmetric = !kComplex<W> && equals_transpose(A);
  problem.A_transposed = symmetric ? problem.A : HostMatrix<W>(adjoint(context, A));
}

template void complete(HostContext&, Problem&);
template void complete(HostContext&, ComplexProblem&);

Monitor continued(const Solution& first, const Monitor& monitor) {
  if (!monitor.iteration) return monitor;
  return monitor.with_iteration([&first, iteration = monitor.iteration](const MonitorState& state) {
    const IterationRecord record = after(first, state.record);
    return iteration({record, state.nev, state.eigenvalues, state.residuals});
  });
}

void prepend(const Solution& first, Solution& second, std::string_view stage) {
  std::vector<IterationRecord> history = first.history;
  for (const IterationRecord& record : second.history) history.push_back(after(first, record));
  second.history = std::move(history);
  second.reason = fmt::format("after {} iterations {}, {}", first.iterations, stage, second.reason);
  second.iterations += first.iterations;
  second.operator_applications += first.operator_applications;
  second.inverse_applications += first.inverse_applications;
  second.matrix_passes += first.matrix_passes;
  second.orthogonalization += first.orthogonalization;
  second.preconditioner.seconds += first.preconditioner.seconds;
  second.setup_seconds += first.setup_seconds;
  second.solve_seconds += first.solve_seconds;
}

void keep_verdict(const Solution& first, Solution& second) {
  if (second.status != SolveStatus::stagnated || second.count() != first.count()) return;
  second.status = first.status;
  second.converged = first.converged;
}

Request remaining(const Request& request, const Solution& first) {
  Request rest = request;
  rest.max_iterations = std::max<Index>(1, rest.max_iterations - first.iterations);
  rest.time_limit_s = std::max(0.0, rest.time_limit_s - first.solve_seconds);
  return rest;
}

template <WideScalar W>
HostBlock<W> guess_from(HostContext& context, const Solution& first) {
  return std::visit(
      [&]<Scalar T>(const HostBlock<T>& X) -> HostBlock<W> {
        if constexpr (kComplex<T> && !kComplex<W>) {
          throw InvalidArgument("guess_from: the vectors are complex");
        } else {
          MultiVector<W, HostSpace> result(context, X.rows(), first.count());
          for (Index i = 0; i < X.rows(); ++i) {
            for (Index j = 0; j < first.count(); ++j) {
              result.view()(i, j) = static_cast<W>(X.view()(i, j));
            }
          }
          return HostBlock<W>(std::move(result));
        }
      },
      first.vectors);
}

template Block guess_from<double>(HostContext&, const Solution&);
template ComplexBlock guess_from<std::complex<double>>(HostContext&, const Solution&);

}  // namespace heddle::detail
