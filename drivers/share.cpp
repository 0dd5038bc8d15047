#include <algorithm>
#include <heddle/drivers/share.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <type_traits>
#include <utility>
#include <vector>

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
HostMatrix<T> share_matrix(HostContext& context, HostMatrix<T> A, const RowRanges& rows,
                           const RowRanges& columns) {
  HostCsrMatrix<T> part = scatter(context, A.view(), rows, columns);
  A = {};
  return HostMatrix<T>(std::move(part));
}

template <Scalar T>
std::optional<HostMatrix<T>> share_matrix(HostContext& context, std::optional<HostMatrix<T>> A,
                                          const RowRanges& rows, const RowRanges& columns) {
  if (!of_leader(context, A.has_value())) return std::nullopt;
  return share_matrix(context, A ? *std::exchange(A, std::nullopt) : HostMatrix<T>(), rows,
                      columns);
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

using Order = std::vector<std::int32_t>;

template <Scalar T>
void reorder(HostContext& host, const Order& order, HostMatrix<T>& A) {
  A = HostMatrix<T>(reordered(host, A.view(), order));
}

template <Scalar T>
void reorder(HostContext& host, const Order& order, HostBlock<T>& X) {
  if (X.cols() > 0) X = HostBlock<T>(reordered(host, X.view(), order));
}

template <class Value>
std::vector<Value> reordered_values(const std::vector<Value>& values, const Order& order) {
  std::vector<Value> result;
  result.reserve(values.size());
  for (const std::int32_t row : order) result.push_back(values[static_cast<std::size_t>(row)]);
  return result;
}

/// Gives the rows of a problem, and the columns of its matrices, another order.
template <Scalar T>
void reorder(HostContext& host, const Order& order, HostProblem<T>& problem) {
  reorder(host, order, problem.A);
  if (problem.A_transposed) reorder(host, order, *problem.A_transposed);
  if (problem.B) reorder(host, order, *problem.B);
  if (problem.preconditioner) reorder(host, order, *problem.preconditioner);
  reorder(host, order, problem.constraints);
  reorder(host, order, problem.initial_guess);
  reorder(host, order, problem.rhs);
  reorder(host, order, problem.near_null);
  if (problem.null_space) {
    const GraphNullSpace& found = *problem.null_space;
    problem.null_space = std::make_shared<const GraphNullSpace>(
        GraphNullSpace{found.dimension, reordered_values(found.vector, order),
                       reordered_values(found.entries, order), found.complete});
  }
}

/// A partition of the rows of `problem`, which keeps the unknowns of a node together. With
/// `normal_equations`, rows and columns of A are different things, and METIS knows no order that
/// suits both.
template <Scalar T>
Partition partition_of(const HostProblem<T>& problem, int processes, Distribution distribution) {
  if (!problem.normal_equations) {
    const Index node = std::max<Index>(problem.unknowns, 1);
    return partition(problem.A.view(), processes, distribution, node);
  }
  return {balanced_rows(problem.A.view(), processes, 0),
          {},
          "rows and columns in order, each with ranges of its own"};
}

/// The ranges of the columns of A. All processes call it together.
template <Scalar T>
RowRanges column_ranges(HostContext& team, const HostProblem<T>& problem, const RowRanges& rows) {
  if (!of_leader(team, problem.normal_equations)) return rows;
  const Processes& processes = *team.processes();
  return shared_ranges(team, processes.leads()
                                 ? balanced_rows(problem.A_transposed->view(), processes.size(), 0)
                                 : RowRanges{});
}

}  // namespace

template <Scalar T>
SharedProblem<T> share(HostContext& team, HostProblem<T> problem, Distribution distribution) {
  Processes* const processes = team.processes();
  SharedProblem<T> shared;
  if (processes == nullptr) {
    if (problem.row_order && problem.row_order->order != RowOrder::none) {
      shared.partition.order = shared.row_numbers = problem.row_order->rows;
      reorder(team, shared.row_numbers, problem);
    }
    shared.problem = std::move(problem);
    return shared;
  }
  const bool own_rows = problem.own_rows != nullptr;  // of all processes, or of none
  if (own_rows) {
    shared.partition = *problem.own_rows;
  } else if (processes->leads()) {
    shared.partition = partition_of(problem, processes->size(), distribution);
    if (!shared.partition.order.empty()) reorder(team, shared.partition.order, problem);
  }
  shared.partition.ranges = shared_ranges(team, std::move(shared.partition.ranges));
  if (of_leader(team, !shared.partition.order.empty())) {
    shared.row_numbers = scatter(team, shared.partition.order, shared.partition.ranges);
  }
  const RowRanges& rows = shared.partition.ranges;
  const RowRanges columns = column_ranges(team, problem, rows);
  HostProblem<T>& part = shared.problem;
  part.processes = processes->size();
  part.normal_equations = of_leader(team, problem.normal_equations);
  part.A = own_rows ? std::exchange(problem.A, {})
                    : share_matrix(team, std::exchange(problem.A, {}), rows, columns);
  part.A_transposed = share_matrix(team, std::exchange(problem.A_transposed, {}), columns, rows);
  part.B = own_rows ? std::exchange(problem.B, std::nullopt)
                    : share_matrix(team, std::exchange(problem.B, std::nullopt), rows, rows);
  part.preconditioner =
      share_matrix(team, std::exchange(problem.preconditioner, {}), columns, columns);
  part.constraints = share_block(team, std::exchange(problem.constraints, {}), rows);
  part.initial_guess = share_block(team, std::exchange(problem.initial_guess, {}), columns);
  part.rhs = problem.own_rhs ? std::exchange(problem.rhs, {})
                             : share_block(team, std::exchange(problem.rhs, {}), rows);
  part.near_null = share_block(team, std::exchange(problem.near_null, {}), rows);
  part.unknowns = of_leader(team, problem.unknowns);
  part.guess_from_random = of_leader(team, problem.guess_from_random);
  const Index infinite = of_leader(team, problem.infinite_eigenvalues.value_or(-1));
  if (infinite >= 0) part.infinite_eigenvalues = infinite;
  part.null_space = share_null_space(team, problem.null_space, rows);
  return shared;
}

template <Scalar T>
MultiVector<T, HostSpace> whole(HostContext& team, HostContext& host, MultiVector<T, HostSpace> X,
                                const std::vector<std::int32_t>& order) {
  const bool alone = team.processes() == nullptr;
  MultiVector<T, HostSpace> all = alone ? std::move(X) : gather(*team.processes(), X, host);
  if (order.empty() || all.cols() == 0) return all;
  return reordered<T>(host, std::as_const(all).view(), order, true);
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template SharedProblem<T> share(HostContext&, HostProblem<T>, Distribution);                    \
  template MultiVector<T, HostSpace> whole(HostContext&, HostContext&, MultiVector<T, HostSpace>, \
                                           const std::vector<std::int32_t>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
