#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <vector>

/// Problems and solutions between process 0, which has the whole of them, and the processes of the
/// context `team`, which solve together. One process has the whole of them, in another order of
/// rows if one was chosen.
namespace heddle::detail {

/// The part of a problem in the rows of this process, and the partition of its rows. With
/// `normal_equations`, the columns of A have ranges of their own: right vectors, solutions and Aᵀ
/// are in these. The order and the reason of the partition are set on process 0 alone. Of one
/// process, only the order is set, where the rows have another one.
template <Scalar T>
struct SharedProblem {
  HostProblem<T> problem;
  Partition partition{};
  /// The numbers in the problem of the rows of this process. Empty, on all processes, where the
  /// partition has no order.
  std::vector<std::int32_t> row_numbers{};
};

/// The part of `problem` in the rows of this process. Only the problem of process 0 is read, and
/// released when its rows are sent, but for matrices of which each process has its own rows
/// (`HostProblem::own_rows`). All processes call it together.
template <Scalar T>
SharedProblem<T> share(HostContext& team, HostProblem<T> problem, Distribution distribution);

/// X in host memory: on process 0 with the rows of all processes in the order of the problem, on
/// the others empty. `host`: the context of the result. `order`: that of the partition.
template <Scalar T>
MultiVector<T, HostSpace> whole(HostContext& team, HostContext& host, MultiVector<T, HostSpace> X,
                                const std::vector<std::int32_t>& order);

}  // namespace heddle::detail
