#pragma once

#include <cstdint>
#include <heddle/drivers/inspect/reorder.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {

/// The part of a problem in the rows of this process, and the partition of its rows.
template <Scalar T>
struct SharedProblem {
  HostProblem<T> problem{};
  Facts facts{};
  /// Order and reason are set on process 0 alone. Of one process, only the order is set, where the
  /// rows have another one.
  Partition partition{};
  /// The numbers in the problem of the rows of this process. Empty, on all processes, where the
  /// partition has no order.
  std::vector<std::int32_t> row_numbers{};
};

/// The whole problem, for the one process that solves it, in the order that was chosen.
template <Scalar T>
SharedProblem<T> keep(HostContext& host, HostProblem<T> problem, Facts facts,
                      const OrderChoice& order) {
  SharedProblem<T> all;
  if (order.order != RowOrder::none) {
    all.partition.order = all.row_numbers = order.rows;
    reorder(host, all.row_numbers, problem, facts);
  }
  all.problem = std::move(problem);
  all.facts = std::move(facts);
  return all;
}

}  // namespace heddle::detail
