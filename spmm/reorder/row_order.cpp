#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <heddle/spmm/reorder/cuthill_mckee.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <numeric>
#include <utility>

namespace heddle {
namespace {

using detail::at;
using detail::NodeGraph;
using Numbers = std::vector<std::int32_t>;

Numbers natural(Index count) {
  Numbers order(at(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Parts whose rows of B, of some ten columns, fit into a second-level cache.
constexpr Index kRowsOfPart = 4096;

Numbers by_metis(HostContext& context, NodeGraph& graph) {
  detail::symmetrize(context, graph);
  const Numbers rcm = detail::reverse_cuthill_mckee(graph);
  const Index rows = std::ssize(graph.members);
  const Index parts = std::min(graph.nodes(), (rows + kRowsOfPart - 1) / kRowsOfPart);
  if (parts < 2) return rcm;
  Numbers weights(at(graph.nodes()));
  for (std::size_t u = 0; u < weights.size(); ++u) {
    weights[u] = graph.first[u + 1] - graph.first[u];
  }
  const CsrView<double, HostSpace> view{graph.nodes(),           graph.nodes(),
                                        graph.offsets.back(),    graph.offsets.data(),
                                        graph.neighbours.data(), nullptr};
  const Numbers part = detail::graph_parts(view, weights, static_cast<int>(parts));
  // Parts follow each other by the mean places of their nodes in the order of rcm.
  std::vector<std::pair<double, std::int32_t>> mean(at(parts));
  std::vector<double> count(at(parts), 0);
  for (std::size_t place = 0; place < rcm.size(); ++place) {
    const std::size_t p = at(part[at(rcm[place])]);
    mean[p].first += static_cast<double>(place);
    count[p] += 1;
  }
  for (std::size_t p = 0; p < mean.size(); ++p) {
    mean[p] = {mean[p].first / std::max(1.0, count[p]), static_cast<std::int32_t>(p)};
  }
  std::sort(mean.begin(), mean.end());
  Numbers rank(at(parts));
  for (std::size_t k = 0; k < mean.size(); ++k) {
    rank[at(mean[k].second)] = static_cast<std::int32_t>(k);
  }
  Numbers order = rcm;
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return rank[at(part[at(a)])] < rank[at(part[at(b)])];
  });
  return order;
}

/// `rows`, by the binary numbers of their patterns in descending order.
void sort_by_columns(const RowPattern& A, Numbers& order, const Numbers& rows) {
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const Index i = rows[at(a)];
    const Index j = rows[at(b)];
    const std::int32_t* const i_end = A.columns + A.row_offsets[i + 1];
    const std::int32_t* const j_end = A.columns + A.row_offsets[j + 1];
    const auto [p, q] =
        std::mismatch(A.columns + A.row_offsets[i], i_end, A.columns + A.row_offsets[j], j_end);
    if (p == i_end) return false;
    return q == j_end || *p < *q;
  });
}

/// Rows whose sets `cluster_rows` unites while it fills a panel.
constexpr BlockShape kClusters{32, 1};

Numbers order_nodes(HostContext& context, const RowPattern& A, RowOrder order, NodeGraph& graph) {
  switch (order) {
    case RowOrder::rcm:
      return detail::reverse_cuthill_mckee(graph);
    case RowOrder::metis:
      return by_metis(context, graph);
    case RowOrder::radix: {
      Numbers first(graph.first.begin(), graph.first.end() - 1);
      for (std::int32_t& row : first) row = graph.members[at(row)];
      Numbers nodes = natural(graph.nodes());
      sort_by_columns(A, nodes, first);
      return nodes;
    }
    default: {
      for (std::size_t u = 0; u + 1 < graph.offsets.size(); ++u) {
        std::sort(graph.neighbours.begin() + graph.offsets[u],
                  graph.neighbours.begin() + graph.offsets[u + 1]);
      }
      return cluster_rows(context,
                          {graph.nodes(), graph.nodes(), graph.offsets.back(), graph.offsets.data(),
                           graph.neighbours.data()},
                          kClusters);
    }
  }
}

}  // namespace

std::string_view row_order_name(RowOrder order) noexcept {
  constexpr std::string_view kNames[] = {"auto", "none", "rcm", "metis", "radix", "jaccard"};
  return kNames[static_cast<std::size_t>(order)];
}

std::string no_row_order_reason(RowOrder order, const RowPattern& A) {
  if (order == RowOrder::metis) {
    if (std::string missing = detail::no_parts_reason(A.rows, A.nnz); !missing.empty()) {
      return missing;
    }
  }
  const bool of_graph = order == RowOrder::metis || order == RowOrder::rcm;
  if (of_graph && A.rows != A.cols) {
    return "it orders the graph of a square matrix, this one is " + std::to_string(A.rows) + " x " +
           std::to_string(A.cols) + "; radix and jaccard order rows alone";
  }
  return {};
}

std::vector<std::int32_t> order_rows(HostContext& context, const RowPattern& A, RowOrder order,
                                     Index unknowns) {
  if (order == RowOrder::automatic || order == RowOrder::none) return {};
  if (const std::string reason = no_row_order_reason(order, A); !reason.empty()) {
    throw InvalidArgument("the order " + std::string(row_order_name(order)) +
                          " cannot be found: " + reason);
  }
  if (A.rows == A.cols) {
    NodeGraph graph = detail::node_graph(context, A, unknowns);
    return graph.rows_of(order_nodes(context, A, order, graph));
  }
  if (order == RowOrder::jaccard) return cluster_rows(context, A, kClusters);
  Numbers rows = natural(A.rows);
  sort_by_columns(A, rows, natural(A.rows));
  return rows;
}

}  // namespace heddle
