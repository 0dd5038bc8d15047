#include <algorithm>
#include <heddle/drivers/inspect/reorder.hpp>
#include <heddle/drivers/team/share.hpp>
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
  DistributedCsr<T, HostSpace> part = scatter(context, A.view(), rows, columns);
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

/// A partition of the rows of `problem`, which keeps the unknowns of a node together. With
/// `normal_equations`, rows and columns of A are different things, and METIS knows no order that
/// suits both.
template <Scalar T>
Partition partition_of(const HostProblem<T>& problem, const Facts& facts,
                       Distribution distribution) {
  const int processes = facts.processes;
  if (!problem.normal_equations) {
    const Index node = std::max<Index>(facts.unknowns, 1);
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

/// The problem as process 0 knows it, of which `part` has the rows of this process.
template <Scalar T>
Facts share_facts(HostContext& team, Facts known, const HostProblem<T>& part,
                  const RowRanges& rows) {
  Facts facts = shape_of(part, team.processes()->size());
  facts.own_rows = std::move(known.own_rows);
  facts.buckling = of_leader(team, known.buckling);
  facts.near_null = share_block(team, known.near_null, rows);
  facts.unknowns = of_leader(team, known.unknowns);
  const Index infinite = of_leader(team, known.infinite_eigenvalues.value_or(-1));
  if (infinite >= 0) facts.infinite_eigenvalues = infinite;
  facts.null_space = share_null_space(team, known.null_space, rows);
  return facts;
}

}  // namespace

template <Scalar T>
SharedProblem<T> share(HostContext& team, HostProblem<T> problem, Facts facts,
                       Distribution distribution) {
  Processes& processes = *team.processes();
  SharedProblem<T> shared;
  const bool own_rows = facts.own_rows != nullptr;  // of all processes, or of none
  if (own_rows) {
    shared.partition = *facts.own_rows;
  } else if (processes.leads()) {
    shared.partition = partition_of(problem, facts, distribution);
    if (!shared.partition.order.empty()) reorder(team, shared.partition.order, problem, facts);
  }
  shared.partition.ranges = shared_ranges(team, std::move(shared.partition.ranges));
  if (of_leader(team, !shared.partition.order.empty())) {
    shared.row_numbers = scatter(team, shared.partition.order, shared.partition.ranges);
  }
  const RowRanges& rows = shared.partition.ranges;
  const RowRanges columns = column_ranges(team, problem, rows);
  HostProblem<T>& part = shared.problem;
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
  part.rhs = facts.own_rhs ? std::exchange(problem.rhs, {})
                           : share_block(team, std::exchange(problem.rhs, {}), rows);
  part.guess_from_random = of_leader(team, problem.guess_from_random);
  shared.facts = share_facts(team, std::move(facts), part, rows);
  return shared;
}

#define HEDDLE_INSTANTIATE(T) \
  template SharedProblem<T> share(HostContext&, HostProblem<T>, Facts, Distribution);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
