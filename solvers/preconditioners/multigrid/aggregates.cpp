#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>
#include <utility>

namespace heddle::detail {
namespace {

constexpr std::int32_t kNone = -1;

/// The neighbours of a node, and the weights of its edges.
template <class Visit>
void for_each_neighbour(const NodeGraph<HostSpace>& graph, std::size_t node, const Visit& visit) {
  for (std::int64_t e = graph.offsets[node]; e < graph.offsets[node + 1]; ++e) {
    visit(static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(e)]),
          graph.weights[static_cast<std::size_t>(e)]);
  }
}

}  // namespace

Aggregates<HostSpace> aggregate(HostContext&, const NodeGraph<HostSpace>& graph) {
  const auto nodes = static_cast<std::size_t>(graph.size());
  Aggregates<HostSpace> aggregates;
  aggregates.of_node.assign(nodes, kNone);
  std::vector<bool> near_root(nodes, false);  // a root is within two edges
  for (std::size_t root = 0; root < nodes; ++root) {
    const bool alone = graph.offsets[root] == graph.offsets[root + 1];
    if (near_root[root] || alone) continue;
    const auto number = static_cast<std::int32_t>(aggregates.count++);
    near_root[root] = true;
    aggregates.of_node[root] = number;
    for_each_neighbour(graph, root, [&](std::size_t neighbour, float) {
      near_root[neighbour] = true;
      aggregates.of_node[neighbour] = number;
      for_each_neighbour(graph, neighbour,
                         [&](std::size_t next, float) { near_root[next] = true; });
    });
  }
  std::vector<std::pair<std::size_t, std::int32_t>> joins;  // after all have chosen
  for (std::size_t node = 0; node < nodes; ++node) {
    if (aggregates.of_node[node] != kNone) continue;
    float largest = 0;
    std::int32_t joined = kNone;
    for_each_neighbour(graph, node, [&](std::size_t neighbour, float weight) {
      if (aggregates.of_node[neighbour] == kNone || weight <= largest) return;
      largest = weight;
      joined = aggregates.of_node[neighbour];
    });
    joins.emplace_back(node, joined);
  }
  for (const auto& [node, joined] : joins) aggregates.of_node[node] = joined;
  return aggregates;
}

}  // namespace heddle::detail
