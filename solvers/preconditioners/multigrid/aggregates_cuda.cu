#include <cooperative_groups.h>

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

/// Thread blocks per multiprocessor that run the rounds.
constexpr int kRoundBlocks = 2;

struct Edges {
  Index nodes;
  Index edges;
  const std::int64_t* offsets;
  const std::int32_t* neighbours;
  const float* weights;
};

/// The state of each node in the rounds.
struct RootSearch {
  std::int32_t* closed;      ///< 1: a root is within two edges
  std::int32_t* candidates;  ///< kNone where no node of the neighbourhood is open
  std::int32_t* places;      ///< of each node, its neighbours that are no candidates any more
  std::int32_t* missing;     ///< the nodes of the neighbourhood whose candidate this one is not
  Index* is_root;            ///< 0 or 1
  std::int32_t* roots;       ///< list: found last, not yet entered
  std::int32_t* closings;    ///< list: the nodes that these roots have closed
};

/// The numbers of entries of the lists. Rounds with even and with odd numbers take turns, so that
/// one size can be read while the next one is counted.
using ListSize = int;
struct ListSizes {
  ListSize roots[2];
  ListSize closings[2];
};

/// A vote for node i. With the last one it is a root of the next round.
__device__ void vote_for(const RootSearch& search, std::int32_t i, ListSize* roots) {
  if (atomicSub(search.missing + i, 1) == 1) search.roots[atomicAdd(roots, 1)] = i;
}

/// missing[v] = the nodes of the neighbourhood of v.
__global__ void neighbourhoods_kernel(Edges graph, std::int32_t* missing) {
  for (Index v = thread_index(); v < graph.nodes; v += thread_count()) {
    missing[v] = static_cast<std::int32_t>(graph.offsets[v + 1] - graph.offsets[v] + 1);
  }
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
    vote_for(search, first, roots);
  }
}

/// Closes a node, and lists it if it was open.
__device__ void close_node(const RootSearch& search, std::int32_t node, ListSize* closings) {
  if (search.closed[node] == 0 && atomicExch(search.closed + node, 1) == 0) {
    search.closings[atomicAdd(closings, 1)] = node;
  }
}

/// How threads share work: this many lanes go over the neighbours of a node together.
struct Lanes {
  int count;

  __device__ int lane() const { return static_cast<int>(threadIdx.x) % count; }
  __device__ Index team() const { return thread_index() / count; }
  __device__ Index teams() const { return thread_count() / count; }
};

/// Closes all nodes within two edges of the roots found last. As many teams per root as there are
/// each take a neighbour: few roots are found at a time where nodes have many neighbours.
__device__ void enter_roots(const Edges& graph, const RootSearch& search, const Lanes& lanes,
                            ListSize roots, ListSize* closings) {
  constexpr Index kMostShares = 64;
  const Index shares = max(Index{1}, min(lanes.teams() / roots, kMostShares));
  for (Index k = lanes.team(); k < roots * shares; k += lanes.teams()) {
    const std::int32_t root = search.roots[k / shares];
    const Index share = k % shares;
    if (share == 0 && lanes.lane() == 0) {
      search.is_root[root] = 1;
      close_node(search, root, closings);
    }
    for (std::int64_t e = graph.offsets[root] + share; e < graph.offsets[root + 1]; e += shares) {
      const std::int32_t v = graph.neighbours[e];
      if (lanes.lane() == 0) close_node(search, v, closings);
      for (std::int64_t f = graph.offsets[v] + lanes.lane(); f < graph.offsets[v + 1];
           f += lanes.count) {
        close_node(search, graph.neighbours[f], closings);
      }
    }
  }
}

/// The first open node of N(u) after the closed node `before`, kNone if there is none. Closed nodes
/// stay closed, so the search goes on where the last one ended.
__device__ std::int32_t next_candidate(const Edges& graph, const RootSearch& search, Index u,
                                       std::int32_t before) {
  constexpr int kAtOnce = 4;  // loads that do not wait for each other
  const std::int64_t begin = graph.offsets[u];
  const std::int64_t end = graph.offsets[u + 1];
  std::int64_t e = begin + search.places[u];
  std::int32_t neighbour = kNone;
  for (bool found = false; e < end && !found;) {
    std::int32_t node[kAtOnce];
    bool open[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      node[k] = e + k < end ? graph.neighbours[e + k] : kNone;
      open[k] = node[k] != kNone && search.closed[node[k]] == 0;
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (found) continue;
      found = open[k];
      if (found) neighbour = node[k];
      if (!found) ++e;
    }
  }
  search.places[u] = static_cast<std::int32_t>(min(e, end) - begin);
  const bool self = u > before && search.closed[u] == 0;
  return self && (neighbour == kNone || u < neighbour) ? static_cast<std::int32_t>(u) : neighbour;
}

/// New candidates of the nodes whose candidates have been closed, and their votes. One team per
/// closed node w. As u has one candidate, one thread changes it. A thread that finds the new
/// candidate of u in place of the old one leaves it, as an open node is not w.
__device__ void pass_closed(const Edges& graph, const RootSearch& search, const Lanes& lanes,
                            ListSize closings, ListSize* roots) {
  for (Index k = lanes.team(); k < closings; k += lanes.teams()) {
    const std::int32_t w = search.closings[k];
    const std::int64_t begin = graph.offsets[w];
    for (std::int64_t e = begin - 1 + lanes.lane(); e < graph.offsets[w + 1]; e += lanes.count) {
      const std::int32_t u = e < begin ? w : graph.neighbours[e];
      if (search.candidates[u] != w) continue;
      const std::int32_t next = next_candidate(graph, search, u, w);
      search.candidates[u] = next;
      if (next != kNone) vote_for(search, next, roots);
    }
  }
}

/// Rounds until one finds no root, at most `most`. All thread blocks run at once and wait for each
/// other twice per round.
__global__ __launch_bounds__(kThreads,
                             kRoundBlocks) void rounds_kernel(Edges graph, RootSearch search,
                                                              Lanes lanes, ListSizes* sizes,
                                                              Index most) {
  const auto all = cooperative_groups::this_grid();
  for (Index round = 0; round < most; ++round) {
    const int now = static_cast<int>(round % 2);
    const ListSize roots = sizes->roots[now];
    if (roots == 0) return;
    if (thread_index() == 0) sizes->roots[1 - now] = 0;
    enter_roots(graph, search, lanes, roots, sizes->closings + now);
    all.sync();
    if (thread_index() == 0) sizes->closings[1 - now] = 0;
    pass_closed(graph, search, lanes, sizes->closings[now], sizes->roots + 1 - now);
    all.sync();
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

/// Finds the roots in rounds, but leaves nodes open where too many rounds would be needed.
void run_rounds(CudaContext& context, Edges graph, RootSearch search) {
  constexpr Index kFewNeighbours = 12;  // on average
  Lanes lanes{graph.edges <= kFewNeighbours * graph.nodes ? 8 : kWarp};
  Index most_rounds = std::max<Index>(1024, graph.nodes / 64);
  Buffer<ListSizes, DeviceSpace> sizes = zeros<ListSizes>(context, 1);
  ListSizes* counted = sizes.data();
  launch(context, grid_for(context, graph.nodes), neighbourhoods_kernel, graph, search.missing);
  launch(context, grid_for(context, graph.nodes), first_candidates_kernel, graph, search,
         &counted->roots[0]);
  void* arguments[] = {&graph, &search, &lanes, &counted, &most_rounds};
  const auto blocks = static_cast<unsigned>(kRoundBlocks * context.device().multiprocessors);
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(rounds_kernel), dim3(blocks),
                                    dim3(kThreads), arguments, 0, context.stream()));
}

/// numbers[v] = the number of roots before node v. Empty if the rounds do not find them all.
std::optional<Buffer<Index, DeviceSpace>> find_roots(CudaContext& context, const Edges& graph) {
  const auto nodes = static_cast<std::size_t>(graph.nodes);
  Buffer<std::int32_t, DeviceSpace> closed = zeros<std::int32_t>(context, graph.nodes);
  Buffer<std::int32_t, DeviceSpace> places = zeros<std::int32_t>(context, graph.nodes);
  Buffer<std::int32_t, DeviceSpace> missing(context, nodes), candidates(context, nodes),
      roots(context, nodes), closings(context, nodes);
  Buffer<Index, DeviceSpace> is_root = zeros<Index>(context, graph.nodes + 1);
  run_rounds(context, graph,
             {closed.data(), candidates.data(), places.data(), missing.data(), is_root.data(),
              roots.data(), closings.data()});
  Buffer<int, DeviceSpace> open = zeros<int>(context, 1);
  launch(context, grid_for(context, graph.nodes), count_open_kernel, graph.nodes, closed.data(),
         open.data());
  if (fetch_number(context, open.data()) > 0) return {};
  return is_root;
}

/// made ← source.
template <class T>
void copy_to_host(CudaContext& context, const Buffer<T, DeviceSpace>& source,
                  Buffer<T, HostSpace>& made) {
  context.copy_to_host(made.data(), source.data(), source.size() * sizeof(T));
}

Aggregates<DeviceSpace> aggregate_on_host(CudaContext& context,
                                          const NodeGraph<DeviceSpace>& graph) {
  HostContext host;
  NodeGraph<HostSpace> copied{
      {host, graph.offsets.size()}, {host, graph.neighbours.size()}, {host, graph.weights.size()}};
  copy_to_host(context, graph.offsets, copied.offsets);
  copy_to_host(context, graph.neighbours, copied.neighbours);
  copy_to_host(context, graph.weights, copied.weights);
  const Aggregates<HostSpace> made = aggregate(host, copied);
  Aggregates<DeviceSpace> placed{{context, made.of_node.size()}, made.count};
  context.copy_to_device(placed.of_node.data(), made.of_node.data(),
                         made.of_node.size() * sizeof(std::int32_t));
  context.synchronize();
  return placed;
}

}  // namespace

Aggregates<DeviceSpace> aggregate(CudaContext& context, const NodeGraph<DeviceSpace>& graph) {
  const Edges edges{graph.size(), static_cast<Index>(graph.neighbours.size()), graph.offsets.data(),
                    graph.neighbours.data(), graph.weights.data()};
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
