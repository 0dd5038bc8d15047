#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <numeric>
#include <utility>

namespace heddle {
namespace {

std::vector<std::int32_t> inverse_of(const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> inverse(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    inverse[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  }
  return inverse;
}

/// The pattern of the nodes of `node` rows of A: an entry where A has one in the rows and columns
/// of two nodes. Its values are zeros.
template <Scalar T>
HostCsrMatrix<T> graph_of_nodes(HostContext& context, const CsrView<T, HostSpace>& A, Index node) {
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets{0};
  for (Index I = 0; I < A.rows / node; ++I) {
    const auto first = std::ssize(columns);
    for (std::int64_t e = A.row_offsets[I * node]; e < A.row_offsets[(I + 1) * node]; ++e) {
      columns.push_back(static_cast<std::int32_t>(A.columns[e] / node));
    }
    std::sort(columns.begin() + first, columns.end());
    columns.erase(std::unique(columns.begin() + first, columns.end()), columns.end());
    offsets.push_back(std::ssize(columns));
  }
  HostCsrMatrix<T> graph(context, A.rows / node, A.rows / node, std::ssize(columns));
  std::copy(offsets.begin(), offsets.end(), graph.row_offsets());
  std::copy(columns.begin(), columns.end(), graph.columns());
  std::fill_n(graph.values(), graph.nnz(), T{0});
  return graph;
}

/// The part of each row of A, which those of a node of `node` rows have in common.
template <Scalar T>
std::vector<std::int32_t> parts_of_rows(const CsrView<T, HostSpace>& A, int processes, Index node) {
  std::vector<std::int32_t> weights(static_cast<std::size_t>(A.rows / node), 0);
  for (Index i = 0; i < A.rows; ++i) {
    weights[static_cast<std::size_t>(i / node)] += static_cast<std::int32_t>(row_cost(A, i));
  }
  if (node == 1) return detail::graph_parts(A, weights, processes);
  HostContext beside(1);
  const std::vector<std::int32_t> of_nodes =
      detail::graph_parts(graph_of_nodes(beside, A, node).view(), weights, processes);
  std::vector<std::int32_t> parts(static_cast<std::size_t>(A.rows));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = of_nodes[i / static_cast<std::size_t>(node)];
  }
  return parts;
}

/// The partition of METIS. Its reason is left empty.
template <Scalar T>
Partition by_graph(const CsrView<T, HostSpace>& A, int processes, Index node) {
  const std::vector<std::int32_t> parts = parts_of_rows(A, processes, node);
  Partition found;
  found.order.resize(parts.size());
  std::iota(found.order.begin(), found.order.end(), 0);
  std::stable_sort(found.order.begin(), found.order.end(),
                   [&parts](std::int32_t a, std::int32_t b) {
                     return parts[static_cast<std::size_t>(a)] < parts[static_cast<std::size_t>(b)];
                   });
  found.ranges.begins.assign(static_cast<std::size_t>(processes) + 1, 0);
  for (const std::int32_t part : parts) ++found.ranges.begins[static_cast<std::size_t>(part) + 1];
  std::partial_sum(found.ranges.begins.begin(), found.ranges.begins.end(),
                   found.ranges.begins.begin());
  return found;
}

bool has_empty_part(const RowRanges& ranges) {
  return std::adjacent_find(ranges.begins.begin(), ranges.begins.end()) != ranges.begins.end();
}

/// As `halo_share`, of A(order, order).
template <Scalar T>
double halo_share_of(const CsrView<T, HostSpace>& A, const Partition& partition) {
  const auto& order = partition.order;
  const std::vector<std::int32_t> place = inverse_of(order);
  const auto row_at = [&](Index k) {
    return order.empty() ? k : Index{order[static_cast<std::size_t>(k)]};
  };
  std::vector<int> needed_by(static_cast<std::size_t>(A.rows), -1);  // the last process found
  double worst = 0;
  for (int process = 0; process < partition.ranges.processes(); ++process) {
    const RowRange own = partition.ranges.of(process);
    Index halo = 0;
    for (Index k = own.first; k < own.first + own.local; ++k) {
      const Index i = row_at(k);
      for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
        const auto column = static_cast<std::size_t>(A.columns[e]);
        const Index at = order.empty() ? A.columns[e] : place[column];
        if (at >= own.first && at < own.first + own.local) continue;
        if (std::exchange(needed_by[column], process) != process) ++halo;
      }
    }
    worst = std::max(worst, static_cast<double>(halo) / static_cast<double>(own.local));
  }
  return worst;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

template <Scalar T>
double halo_share(const CsrView<T, HostSpace>& A, const RowRanges& ranges) {
  return halo_share_of(A, {ranges, {}, {}});
}

template <Scalar T>
double halo_share(Processes& processes, const DistributedCsrView<T, HostSpace>& A) {
  const HaloLists& lists = *A.others().lists;
  double share = static_cast<double>(lists.halo()) / static_cast<double>(lists.rows.local);
  processes.largest({&share, 1});
  return share;
}

std::string reason_for_order(Distribution asked, double natural, Index rows, Index entries,
                             double small) {
  const std::string missing = detail::no_parts_reason(rows, entries);
  const bool wanted = asked == Distribution::automatic && natural > small;
  if (asked == Distribution::metis || (wanted && missing.empty())) return {};
  return fmt::format("rows in order, the halo of a process has {} of its rows at most{}",
                     percent(natural), wanted ? "; " + missing : "");
}

template <Scalar T>
Partition partition(const CsrView<T, HostSpace>& A, int processes, Distribution asked, Index node) {
  node = whole_nodes(A.rows, processes, node);
  Partition in_order{balanced_rows(A, processes, 1, node), {}, {}};
  const double natural = halo_share_of(A, in_order);
  const std::string missing = detail::no_parts_reason(A.rows, A.nnz);
  if (asked == Distribution::metis && !missing.empty()) {
    throw InvalidArgument("distribution: metis cannot be used: " + missing);
  }
  in_order.reason = reason_for_order(asked, natural, A.rows, A.nnz);
  if (!in_order.reason.empty()) return in_order;
  Partition by_metis = by_graph(A, processes, node);
  if (has_empty_part(by_metis.ranges)) {
    in_order.reason = "rows in order, METIS left a process without rows";
    return in_order;
  }
  const double share = halo_share_of(A, by_metis);
  if (asked == Distribution::automatic && share > kWorthwhile * natural) {
    in_order.reason =
        fmt::format("rows in order, with a halo of {} of the rows of a process, by METIS {}",
                    percent(natural), percent(share));
    return in_order;
  }
  by_metis.reason = fmt::format("METIS, with a halo of {} of the rows of a process, in order {}",
                                percent(share), percent(natural));
  return by_metis;
}

template <Scalar T>
HostCsrMatrix<T> reordered(HostContext& context, const CsrView<T, HostSpace>& A,
                           const std::vector<std::int32_t>& order) {
  const std::vector<std::int32_t> place = inverse_of(order);
  HostCsrMatrix<T> B(context, A.rows, A.cols, A.nnz);
  std::int64_t* const offsets = B.row_offsets();
  offsets[0] = 0;
  for (Index k = 0; k < A.rows; ++k) {
    const Index i = order[static_cast<std::size_t>(k)];
    offsets[k + 1] = offsets[k] + A.row_offsets[i + 1] - A.row_offsets[i];
  }
  parallel_for(context.threads(), A.rows, [&](Index k) {
    std::vector<std::pair<std::int32_t, T>> row;
    const Index i = order[static_cast<std::size_t>(k)];
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      row.emplace_back(place[static_cast<std::size_t>(A.columns[e])], A.values[e]);
    }
    std::sort(row.begin(), row.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::int64_t next = offsets[k];
    for (const auto& [column, value] : row) {
      B.columns()[next] = column;
      B.values()[next++] = value;
    }
  });
  return B;
}

template <Scalar T>
MultiVector<T, HostSpace> reordered(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                                    const std::vector<std::int32_t>& order, bool back) {
  MultiVector<T, HostSpace> Y(context, X.rows(), X.cols());
  const BlockView<T, HostSpace> y = Y.view();
  parallel_for(context.threads(), X.rows(), [&](Index k) {
    const Index i = order[static_cast<std::size_t>(k)];
    const auto [from, to] = back ? std::pair(k, i) : std::pair(i, k);
    std::copy_n(X.data() + from * X.ld(), X.cols(), y.data() + to * y.ld());
  });
  return Y;
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template double halo_share(const CsrView<T, HostSpace>&, const RowRanges&);                     \
  template double halo_share(Processes&, const DistributedCsrView<T, HostSpace>&);                \
  template Partition partition(const CsrView<T, HostSpace>&, int, Distribution, Index);           \
  template HostCsrMatrix<T> reordered(HostContext&, const CsrView<T, HostSpace>&,                 \
                                      const std::vector<std::int32_t>&);                          \
  template MultiVector<T, HostSpace> reordered(HostContext&, const ConstBlockView<T, HostSpace>&, \
                                               const std::vector<std::int32_t>&, bool);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
