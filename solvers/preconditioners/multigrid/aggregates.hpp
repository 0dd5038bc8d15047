#pragma once

#include <heddle/solvers/preconditioners/multigrid/connections.hpp>

namespace heddle::detail {

/// Nodes grouped into aggregates, each of which becomes a node of the next coarser level.
struct Aggregates {
  /// The aggregate of each node, −1 for a node without neighbours. The smoother alone solves for
  /// these.
  std::vector<std::int32_t> of_node;
  Index count = 0;
};

/// Aggregates around a maximal independent set of distance 2: no two of its nodes, the roots, have
/// a path of two edges or less between them, and every other node with neighbours has such a path
/// to a root. A node joins the root that is its neighbour. Others join the aggregate of the
/// neighbour with the largest weight. Source: Kelley & Rajamanickam, Parallel, portable algorithms
/// for distance-2 maximal independent set and graph coarsening, IPDPS 2022, section III.
Aggregates aggregate(const NodeGraph& graph);

}  // namespace heddle::detail
