#include <heddle/drivers/inspect/reorder.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <memory>

namespace heddle::detail {
namespace {

using RowNumbers = std::vector<std::int32_t>;

template <Scalar T>
void reorder(HostContext& host, const RowNumbers& order, HostMatrix<T>& A) {
  A = HostMatrix<T>(reordered(host, A.view(), order));
}

template <Scalar T>
void reorder(HostContext& host, const RowNumbers& order, HostBlock<T>& X) {
  if (X.cols() > 0) X = HostBlock<T>(reordered(host, X.view(), order));
}

template <class Value>
std::vector<Value> reordered_values(const std::vector<Value>& values, const RowNumbers& order) {
  std::vector<Value> result;
  result.reserve(values.size());
  for (const std::int32_t row : order) result.push_back(values[static_cast<std::size_t>(row)]);
  return result;
}

}  // namespace

template <Scalar T>
void reorder(HostContext& host, const RowNumbers& order, HostProblem<T>& problem, Facts& facts) {
  reorder(host, order, problem.A);
  if (problem.A_transposed) reorder(host, order, *problem.A_transposed);
  if (problem.B) reorder(host, order, *problem.B);
  if (problem.preconditioner) reorder(host, order, *problem.preconditioner);
  reorder(host, order, problem.constraints);
  reorder(host, order, problem.initial_guess);
  reorder(host, order, problem.rhs);
  reorder(host, order, facts.near_null);
  if (facts.null_space) {
    const GraphNullSpace& found = *facts.null_space;
    facts.null_space = std::make_shared<const GraphNullSpace>(
        GraphNullSpace{found.dimension, reordered_values(found.vector, order),
                       reordered_values(found.entries, order), found.complete});
  }
}

#define HEDDLE_INSTANTIATE(T) \
  template void reorder(HostContext&, const RowNumbers&, HostProblem<T>&, Facts&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
