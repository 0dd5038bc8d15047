#pragma once

#include <heddle/solvers/preconditioners/multigrid/connections.hpp>

namespace heddle::detail {

/// Nodes grouped into aggregates, each of which becomes a node of the next coarser level.
template <class Space>
struct Aggregates {
  /// The aggregate of each node, −1 for a node without neighbours. The smoother alone solves for
  /// these.
  Buffer<std::int32_t, Space> of_node;
  Index count = 0;
};

/// Aggregates around a maximal independent set of distance 2: no two of its nodes, the roots, have
/// a path of two edges or less between them, and every other node with neighbours has such a path
/// to a root. The roots are found in the order of their numbers: a node is one if no node before it
/// is one that is so near. A node joins the root that is its neighbour. Others join the aggregate
/// of the neighbour with the largest weight. Source: Kelley & Rajamanickam, Parallel, portable
/// algorithms for distance-2 maximal independent set and graph coarsening, IPDPS 2022, section III.
Aggregates<HostSpace> aggregate(HostContext& context, const NodeGraph<HostSpace>& graph);

/// The same aggregates, in device memory. In a round, all nodes become roots that come before all
/// others whose fate is open within two edges. So the number of rounds is that of the longest chain
/// of decisions that depend on each other: 230 for a cube of 100³, 5 for random numbers of its
/// nodes. Where they would be more than 1024 and a 64th of the nodes, as in a long line, the host
/// does it. `graph` must have every edge in both directions, as the graph of a symmetric matrix
/// has. Where rounding errors leave one direction out, aggregates may differ from the host's, and
/// those that no node joins are empty and have no column in T. The host also does it where the
/// rounds leave nodes open because of such edges.
Aggregates<DeviceSpace> aggregate(CudaContext& context, const NodeGraph<DeviceSpace>& graph);

}  // namespace heddle::detail
