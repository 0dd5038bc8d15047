#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/reorder/node_graph.hpp>
#include <heddle/spmm/transpose/transposed_pattern.hpp>
#include <numeric>

namespace heddle::detail {
namespace {

std::uint64_t hash_of_row(const RowPattern& A, Index row) {
  std::uint64_t hash = static_cast<std::uint64_t>(A.length(row));
  for (std::int64_t e = A.row_offsets[row]; e < A.row_offsets[row + 1]; ++e) {
    hash = (hash ^ static_cast<std::uint64_t>(A.columns[e])) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return hash;
}

bool equal_rows(const RowPattern& A, Index i, Index j) {
  return std::equal(A.columns + A.row_offsets[i], A.columns + A.row_offsets[i + 1],
                    A.columns + A.row_offsets[j], A.columns + A.row_offsets[j + 1]);
}

/// The first row with the columns of each row. Rows with equal columns, the diagonal ones among
/// them, are columns of each other.
std::vector<std::int32_t> first_equal_rows(HostContext& context, const RowPattern& A) {
  std::vector<std::uint64_t> hashes(at(A.rows));
  parallel_for(context.threads(), A.rows, [&](Index i) { hashes[at(i)] = hash_of_row(A, i); });
  std::vector<std::int32_t> equal(at(A.rows));
  parallel_for(context.threads(), A.rows, [&](Index i) {
    equal[at(i)] = static_cast<std::int32_t>(i);
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      const std::int32_t j = A.columns[e];
      if (j >= i) break;
      if (hashes[at(j)] == hashes[at(i)] && equal_rows(A, i, j)) {
        equal[at(i)] = j;
        break;
      }
    }
  });
  return equal;
}

/// The node of each row. Nodes are numbered by their first rows.
std::vector<std::int32_t> nodes_of_rows(HostContext& context, const RowPattern& A, Index unknowns) {
  std::vector<std::int32_t> node(at(A.rows));
  if (unknowns > 1 && A.rows % unknowns == 0) {
    for (Index i = 0; i < A.rows; ++i) node[at(i)] = static_cast<std::int32_t>(i / unknowns);
    return node;
  }
  const std::vector<std::int32_t> equal = first_equal_rows(context, A);
  std::int32_t nodes = 0;
  for (Index i = 0; i < A.rows; ++i) {
    node[at(i)] = equal[at(i)] == i ? nodes++ : node[at(equal[at(i)])];
  }
  return node;
}

void collect_members(const std::vector<std::int32_t>& node, NodeGraph& graph) {
  const std::int32_t nodes = node.empty() ? 0 : 1 + *std::max_element(node.begin(), node.end());
  graph.first.assign(at(nodes) + 1, 0);
  for (const std::int32_t u : node) ++graph.first[at(u) + 1];
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  std::vector<std::int32_t> next(graph.first.begin(), graph.first.end() - 1);
  graph.members.resize(node.size());
  for (std::size_t i = 0; i < node.size(); ++i) {
    graph.members[at(next[at(node[i])]++)] = static_cast<std::int32_t>(i);
  }
}

}  // namespace

std::vector<std::int32_t> NodeGraph::rows_of(
    const std::vector<std::int32_t>& nodes_in_order) const {
  std::vector<std::int32_t> rows;
  rows.reserve(members.size());
  for (const std::int32_t u : nodes_in_order) {
    rows.insert(rows.end(), members.begin() + first[at(u)], members.begin() + first[at(u) + 1]);
  }
  return rows;
}

NodeGraph node_graph(HostContext& context, const RowPattern& A, Index unknowns) {
  NodeGraph graph;
  const std::vector<std::int32_t> node = nodes_of_rows(context, A, unknowns);
  collect_members(node, graph);
  graph.offsets = {0};
  graph.offsets.reserve(graph.first.size());
  std::vector<std::int32_t> seen_by(at(graph.nodes()), -1);
  for (std::int32_t u = 0; u < graph.nodes(); ++u) {
    const auto add = [&](std::int32_t v) {
      if (std::exchange(seen_by[at(v)], u) != u) graph.neighbours.push_back(v);
    };
    add(u);
    for (std::int32_t m = graph.first[at(u)]; m < graph.first[at(u) + 1]; ++m) {
      const std::int32_t row = graph.members[at(m)];
      for (std::int64_t e = A.row_offsets[row]; e < A.row_offsets[row + 1]; ++e) {
        add(node[at(A.columns[e])]);
      }
      if (unknowns <= 1) break;  // the other rows have the same columns
    }
    graph.offsets.push_back(static_cast<std::int64_t>(graph.neighbours.size()));
  }
  return graph;
}

void symmetrize(HostContext& context, NodeGraph& graph) {
  const CsrView<double, HostSpace> A{graph.nodes(),           graph.nodes(),
                                     graph.offsets.back(),    graph.offsets.data(),
                                     graph.neighbours.data(), nullptr};
  const auto back = transposed_pattern(context, A);
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> neighbours;
  neighbours.reserve(graph.neighbours.size());
  std::vector<std::int32_t> seen_by(at(graph.nodes()), -1);
  for (std::int32_t u = 0; u < graph.nodes(); ++u) {
    const auto add = [&](const std::int64_t* of, const std::int32_t* columns) {
      for (std::int64_t e = of[u]; e < of[u + 1]; ++e) {
        if (std::exchange(seen_by[at(columns[e])], u) != u) neighbours.push_back(columns[e]);
      }
    };
    add(A.row_offsets, A.columns);
    add(back.row_offsets.data(), back.columns.data());
    offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
  }
  graph.offsets = std::move(offsets);
  graph.neighbours = std::move(neighbours);
}

}  // namespace heddle::detail
