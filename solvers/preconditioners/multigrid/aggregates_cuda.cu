#include <algorithm>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>
#include <heddle/solvers/preconditioners/multigrid/device_steps.cuh>
#include <optional>
#include <utility>

/// Roots are found in rounds. A node is open until a root is within two edges. Each node v has a
/// candidate: the first open node of its neighbourhood N(v), which are v and its neighbours. A
/// node r becomes a root when it is the candidate of all v in N(r), as r then comes before all open
/// nodes within two edges. Candidates only ascend, so that a node passes over each of its
/// neighbours once in all rounds.
namespace heddle::detail {
namespace {

constexpr std::int32_t kNone = -1;

struct Edges {
  Index nodes;
  const std::int64_t* offsets;
  const std::int32_t* neighbours;
  const float* weights;
};

/// What the rounds know of each node.
struct RootSearch {
  std::int32_t* closed;      ///< 1: a root is within two edges
  std::int32_t* candidates;  ///< kNone where no node of the neighbourhood is open
  std::int32_t* votes;       ///< the nodes whose candidate this one is
  Index* is_root;            ///< 0 or 1
  std::int32_t* roots;       ///< list: found last, not yet entered
  std::int32_t* closings;    ///< list: the nodes that these roots have closed
};

/// The numbers of entries of the lists: those of round k are roots at 2k, closings at 2k + 1.
using ListSize = int;

/// A vote for node i. With the last one it is a root of the next round.
__device__ void vote_for(const Edges& graph, const RootSearch& search, std::int32_t i,
                         ListSize* roots) {
  const Index needed = graph.offsets[i + 1] - graph.offsets[i] + 1;
  if (atomicAdd(search.votes + i, 1) + 1 == needed) search.roots[atomicAdd(roots, 1)] = i;
}

/// The first candidates, and their votes. A node without neighbours takes no part.
__global__ void first_candidates_kernel(Edges graph, RootSearch search, ListSize* roots) {
  for (Index v = thread_index(); v < graph.nodes; v += thread_count()) {
    const std::int64_t begin = graph.offsets[v];
    if (begin == graph.offsets[v + 1]) {
      search.closed[v] = 1;
      search.candidates[v] = kNone;
      continue;
    }
    const std::int32_t first = min(static_cast<std::int32_t>(v), graph.neighbours[begin]);
    search.candidates[v] = first;
    vote_for(graph, search, first, roots);
  }
}

/// Closes a node, and lists it if it was open.
__device__ void close_node(const RootSearch& search, std::int32_t node, ListSize* closings) {
  if (search.closed[node] == 0 && atomicExch(search.closed + node, 1) == 0) {
    search.closings[atomicAdd(closings, 1)] = node;
  }
}

/// Closes all nodes within two edges of the roots found last. One warp per root, whose teams each
/// take a neighbour.
__global__ void enter_roots_kernel(Edges graph, RootSearch search, const ListSize* roots,
                                   ListSize* closings) {
  constexpr int kTeams = kWarp / kTeam;
  for (Index k = thread_index() / kWarp; k < *roots; k += thread_count() / kWarp) {
    const std::int32_t root = search.roots[k];
    if (lane_index() == 0) {
      search.is_root[root] = 1;
      close_node(search, root, closings);
    }
    for (std::int64_t e = graph.offsets[root] + lane_index() / kTeam; e < graph.offsets[root + 1];
         e += kTeams) {
      const std::int32_t v = graph.neighbours[e];
      if (team_lane() == 0) close_node(search, v, closings);
      for (std::int64_t f = graph.offsets[v] + team_lane(); f < graph.offsets[v + 1]; f += kTeam) {
        close_node(search, graph.neighbours[f], closings);
      }
    }
  }
}

/// The first open node of N(u) after the closed node `before`, kNone if there is none.
__device__ std::int32_t next_candidate(const Edges& graph, const RootSearch& search, Index u,
                                       std::int32_t before) {
  const std::int64_t begin = graph.offsets[u];
  const std::int64_t end = graph.offsets[u + 1];
  std::int64_t e = begin + count_below(graph.neighbours + begin, end - begin, Index{before} + 1);
  while (e < end && search.closed[graph.neighbours[e]] != 0) ++e;
  const std::int32_t neighbour = e < end ? graph.neighbours[e] : kNone;
  const bool self = u > before && search.closed[u] == 0;
  return self && (neighbour == kNone || u < neighbour) ? static_cast<std::int32_t>(u) : neighbour;
}

/// New candidates of the nodes whose candidates have been closed, and their votes. One team per
/// closed node w. As u has one candidate, one thread changes it. A thread that finds the new
/// candidate of u in place of the old one leaves it, as an open node is not w.
__global__ void pass_closed_kernel(Edges graph, RootSearch search, const ListSize* closings,
                                   ListSize* roots) {
  for (Index k = team_number(); k < *closings; k += thread_count() / kTeam) {
    const std::int32_t w = search.closings[k];
    const std::int64_t begin = graph.offsets[w];
    for (std::int64_t e = begin - 1 + team_lane(); e < graph.offsets[w + 1]; e += kTeam) {
      const std::int32_t u = e < begin ? w : graph.neighbours[e];
      if (search.candidates[u] != w) continue;
      const std::int32_t next = next_candidate(graph, search, u, w);
      search.candidates[u] = next;
      if (next != kNone) vote_for(graph, search, next, roots);
    }
  }
}

__global__ void count_open_kernel(Index nodes, const std::int32_t* closed, int* open) {
  for (Index v = thread_index(); v < nodes; v += thread_count()) {
    if (closed[v] == 0) atomicAdd(open, 1);
  }
}

/// The aggregates of roots and of their neighbours, kNone for others. numbers[v + 1] − numbers[v]
/// is 1 for a root.
__global__ void join_roots_kernel(Edges graph, const Index* numbers, std::int32_t* of_node) {
  for (Index v = thread_index(); v < graph.nodes; v += thread_count()) {
    const auto number = [numbers](Index node) {
      return numbers[node + 1] > numbers[node] ? static_cast<std::int32_t>(numbers[node]) : kNone;
    };
    std::int32_t joined = number(v);
    for (std::int64_t e = graph.offsets[v]; joined == kNone && e < graph.offsets[v + 1]; ++e) {
      joined = number(graph.neighbours[e]);
    }
    of_node[v] = joined;
  }
}

/// Others join the aggregate of the neighbour with the largest weight, the first one of equals.
__global__ void join_neighbours_kernel(Edges graph, const std::int32_t* near_roots,
                                       std::int32_t* of_node) {
  for (Index v = thread_index(); v < graph.nodes; v += thread_count()) {
    std::int32_t joined = near_roots[v];
    float largest = 0;
    for (std::int64_t e = graph.offsets[v]; near_roots[v] == kNone && e < graph.offsets[v + 1];
         ++e) {
      const std::int32_t of_neighbour = near_roots[graph.neighbours[e]];
      if (of_neighbour == kNone || graph.weights[e] <= largest) continue;
      largest = graph.weights[e];
      joined = of_neighbour;
    }
    of_node[v] = joined;
  }
}

/// Queues rounds until no new root is found. Returns false where too many would be needed.
bool run_rounds(CudaContext& context, const Edges& graph, const RootSearch& search) {
  constexpr int kBatch = 64;  // rounds between two looks at the number of new roots
  const Index most_rounds = std::max<Index>(1024, graph.nodes / 64);
  const auto blocks = static_cast<unsigned>(2 * context.device().multiprocessors);
  Buffer<ListSize, DeviceSpace> sizes = zeros<ListSize>(context, 2 * kBatch + 1);
  launch(context, grid_for(context, graph.nodes), first_candidates_kernel, graph, search,
         sizes.data());
  for (Index rounds = 0; rounds < most_rounds; rounds += kBatch) {
    for (int k = 0; k < kBatch; ++k) {
      ListSize* const size = sizes.data() + 2 * k;
      launch(context, blocks, enter_roots_kernel, graph, search, size, size + 1);
      launch(context, blocks, pass_closed_kernel, graph, search, size + 1, size + 2);
    }
    const ListSize found = fetched(context, sizes.data() + 2 * kBatch);
    if (found == 0) return true;
    sizes = zeros<ListSize>(context, 2 * kBatch + 1);
    context.copy_to_device(sizes.data(), &found, sizeof found);
  }
  return false;
}

/// numbers[v] = the number of roots before node v. Empty if the rounds do not find them all.
std::optional<Buffer<Index, DeviceSpace>> find_roots(CudaContext& context, const Edges& graph) {
  const auto nodes = static_cast<std::size_t>(graph.nodes);
  Buffer<std::int32_t, DeviceSpace> closed = zeros<std::int32_t>(context, graph.nodes);
  Buffer<std::int32_t, DeviceSpace> votes = zeros<std::int32_t>(context, graph.nodes);
  Buffer<std::int32_t, DeviceSpace> candidates(context, nodes), roots(context, nodes),
      closings(context, nodes);
  Buffer<Index, DeviceSpace> is_root = zeros<Index>(context, graph.nodes + 1);
  if (!run_rounds(context, graph,
                  {closed.data(), candidates.data(), votes.data(), is_root.data(), roots.data(),
                   closings.data()})) {
    return {};
  }
  Buffer<int, DeviceSpace> open = zeros<int>(context, 1);
  launch(context, grid_for(context, graph.nodes), count_open_kernel, graph.nodes, closed.data(),
         open.data());
  if (fetched(context, open.data()) > 0) return {};
  return is_root;
}

template <class T>
std::vector<T> on_host(CudaContext& context, const Buffer<T, DeviceSpace>& source) {
  std::vector<T> made(source.size());
  context.copy_to_host(made.data(), source.data(), source.size() * sizeof(T));
  return made;
}

Aggregates<DeviceSpace> aggregate_on_host(CudaContext& context,
                                          const NodeGraph<DeviceSpace>& graph) {
  HostContext host;
  const Aggregates<HostSpace> made =
      aggregate(host, {on_host(context, graph.offsets), on_host(context, graph.neighbours),
                       on_host(context, graph.weights)});
  Aggregates<DeviceSpace> placed{{context, made.of_node.size()}, made.count};
  context.copy_to_device(placed.of_node.data(), made.of_node.data(),
                         made.of_node.size() * sizeof(std::int32_t));
  context.synchronize();
  return placed;
}

}  // namespace

Aggregates<DeviceSpace> aggregate(CudaContext& context, const NodeGraph<DeviceSpace>& graph) {
  const Edges edges{graph.size(), graph.offsets.data(), graph.neighbours.data(),
                    graph.weights.data()};
  std::optional<Buffer<Index, DeviceSpace>> numbers = find_roots(context, edges);
  if (!numbers) return aggregate_on_host(context, graph);
  const unsigned blocks = grid_for(context, edges.nodes);
  Aggregates<DeviceSpace> made;
  made.count = exclusive_sum(context, numbers->data(), edges.nodes + 1);
  Buffer<std::int32_t, DeviceSpace> near_roots(context, static_cast<std::size_t>(edges.nodes));
  made.of_node = {context, static_cast<std::size_t>(edges.nodes)};
  launch(context, blocks, join_roots_kernel, edges, numbers->data(), near_roots.data());
  launch(context, blocks, join_neighbours_kernel, edges, near_roots.data(), made.of_node.data());
  return made;
}

}  // namespace heddle::detail
