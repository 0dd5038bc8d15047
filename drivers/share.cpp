#include <heddle/drivers/share.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <type_traits>
#include <utility>

namespace heddle::detail {
namespace {

/// `value` of process 0.
template <class Value>
Value of_leader(HostContext& context, Value value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  context.processes()->broadcast(&value, sizeof value);
  return value;
}

template <Scalar T>
HostMatrix<T> share_matrix(HostContext& context, HostMatrix<T> A, const RowRanges& rows) {
  HostCsrMatrix<T> part = scatter(context, A.view(), rows, rows);
  A = {};
  return HostMatrix<T>(std::move(part));
}

template <Scalar T>
std::optional<HostMatrix<T>> share_matrix(HostContext& context, std::optional<HostMatrix<T>> A,
                                          const RowRanges& rows) {
  if (!of_leader(context, A.has_value())) return std::nullopt;
  return share_matrix(context, A ? *std::exchange(A, std::nullopt) : HostMatrix<T>(), rows);
}

template <Scalar T>
HostBlock<T> share_block(HostContext& context, const HostBlock<T>& X, const RowRanges& rows) {
  return HostBlock<T>(scatter(context, X.view(), rows));
}

std::shared_ptr<const GraphNullSpace> share_null_space(
    HostContext& context, const std::shared_ptr<const GraphNullSpace>& found,
    const RowRanges& rows) {
  if (!of_leader(context, found != nullptr)) return nullptr;
  const GraphNullSpace& source = found ? *found : GraphNullSpace{};
  return std::make_shared<const GraphNullSpace>(
      GraphNullSpace{of_leader(context, source.dimension), scatter(context, source.vector, rows),
                     scatter(context, source.entries, rows), of_leader(context, source.complete)});
}

}  // namespace

template <Scalar T>
HostProblem<T> share(HostContext& team, HostProblem<T> problem) {
  Processes* const processes = team.processes();
  if (processes == nullptr) return problem;
  RowRanges ranges;
  if (processes->leads()) ranges = balanced_rows(problem.A.view(), processes->size());
  const RowRanges rows = shared_ranges(team, std::move(ranges));
  HostProblem<T> part;
  part.processes = processes->size();
  part.A = share_matrix(team, std::exchange(problem.A, {}), rows);
  part.B = share_matrix(team, std::exchange(problem.B, std::nullopt), rows);
  part.preconditioner = share_matrix(team, std::exchange(problem.preconditioner, {}), rows);
  part.constraints = share_block(team, std::exchange(problem.constraints, {}), rows);
  part.initial_guess = share_block(team, std::exchange(problem.initial_guess, {}), rows);
  part.rhs = share_block(team, std::exchange(problem.rhs, {}), rows);
  part.guess_from_random = of_leader(team, problem.guess_from_random);
  const Index infinite = of_leader(team, problem.infinite_eigenvalues.value_or(-1));
  if (infinite >= 0) part.infinite_eigenvalues = infinite;
  part.null_space = share_null_space(team, problem.null_space, rows);
  return part;
}

template <Scalar T>
MultiVector<T, HostSpace> whole(HostContext& team, HostContext& host, MultiVector<T, HostSpace> X) {
  return team.processes() == nullptr ? std::move(X) : gather(team, X, host);
}

#define HEDDLE_INSTANTIATE(T)                                  \
  template HostProblem<T> share(HostContext&, HostProblem<T>); \
  template MultiVector<T, HostSpace> whole(HostContext&, HostContext&, MultiVector<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
