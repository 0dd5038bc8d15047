#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <vector>

namespace heddle::detail {

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The graph of a square matrix's nodes, groups of rows that every order keeps side by side: the
/// unknowns of a point of a discretisation. Node u holds rows members[first[u]] …
/// members[first[u + 1] − 1], ascending. Its neighbours, itself included, are
/// neighbours[offsets[u]] … neighbours[offsets[u + 1] − 1].
struct NodeGraph {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> members;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> neighbours;

  Index nodes() const noexcept { return static_cast<Index>(first.size()) - 1; }
  Index degree(std::int32_t node) const noexcept {
    return offsets[static_cast<std::size_t>(node) + 1] - offsets[static_cast<std::size_t>(node)];
  }
  /// The rows of A, node by node in an order of the nodes.
  std::vector<std::int32_t> rows_of(const std::vector<std::int32_t>& nodes_in_order) const;
};

/// The nodes of a square A. `unknowns` > 1 that divides the order: each `unknowns` neighbouring
/// rows. Otherwise rows with equal columns, the diagonal one among them, wherever they lie
/// ("indistinguishable nodes"), so that the unknowns of a point are found after any permutation. In
/// one pass over A.
NodeGraph node_graph(HostContext& context, const RowPattern& A, Index unknowns);

/// The graph with an edge back for every edge.
void symmetrize(HostContext& context, NodeGraph& graph);

}  // namespace heddle::detail
