#pragma once

#include <heddle/spmm/reorder/node_graph.hpp>
#include <vector>

namespace heddle::detail {

/// The reverse Cuthill–McKee order of a graph's nodes: breadth first from a node at the end of a
/// long shortest path, neighbours by degree, all of it backwards. Component by component, each from
/// its first node in the order of the graph. O(edges · log degree).
///
/// Source: Cuthill & McKee, Proc. 24th ACM National Conference, 1969; George & Liu, Computer
/// Solution of Large Sparse Positive Definite Systems, 1981 (the start, and why backwards).
std::vector<std::int32_t> reverse_cuthill_mckee(const NodeGraph& graph);

}  // namespace heddle::detail
