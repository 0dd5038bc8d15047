#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/filled_buffer.hpp>
#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>
#include <vector>

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

Aggregates<HostSpace> aggregate(HostContext& context, const NodeGraph<HostSpace>& graph) {
  const auto nodes = static_cast<std::size_t>(graph.size());
  Aggregates<HostSpace> aggregates;
  auto of_roots = filled(context, nodes, kNone);  // the aggregates of roots and their neighbours
  std::vector<bool> near_root(nodes, false);      // a root is within two edges
  for (std::size_t root = 0; root < nodes; ++root) {
    const bool alone = graph.offsets[root] == graph.offsets[root + 1];
    if (near_root[root] || alone) continue;
    const auto number = static_cast<std::int32_t>(aggregates.count++);
    near_root[root] = true;
    of_roots[root] = number;
    for_each_neighbour(graph, root, [&](std::size_t neighbour, float) {
      near_root[neighbour] = true;
      of_roots[neighbour] = number;
      for_each_neighbour(graph, neighbour,
                         [&](std::size_t next, float) { near_root[next] = true; });
    });
  }
  aggregates.of_node = {context, nodes};
  const double bytes = static_cast<double>(nodes) * sizeof(std::int64_t);
  parallel_for(team_size(context.threads(), bytes, 0), graph.size(), [&](Index k) {
    const auto node = static_cast<std::size_t>(k);
    std::int32_t joined = of_roots[node];
    float largest = 0;
    if (joined == kNone) {
      for_each_neighbour(graph, node, [&](std::size_t neighbour, float weight) {
        if (of_roots[neighbour] == kNone || weight <= largest) return;
        largest = weight;
        joined = of_roots[neighbour];
      });
    }
    aggregates.of_node[node] = joined;
  });
  return aggregates;
}

}  // namespace heddle::detail
