#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/files/file_content.hpp>
#include <string_view>
#include <vector>

/// The edges of a list, parsed in parallel.
namespace heddle::detail {

/// `parse_edge_list` for a file in memory. It frees the text as soon as it is parsed.
template <Scalar T>
HostCsrMatrix<T> take_edge_list(HostContext& context, FileContent file, std::string_view name);

/// What the lines before the first edge, and that edge, say of the list.
struct EdgeListHeader {
  bool weighted = false;    ///< the lines have a weight
  bool undirected = false;  ///< a comment calls the graph undirected
};

/// Throws `InputError` for a list without edges and for a bipartite graph.
EdgeListHeader parse_edge_list_header(std::string_view text, std::string_view name);

template <Scalar T>
struct ListedEdge {
  Index from;
  Index to;
  T weight;
};

/// The edges in pieces that were parsed separately.
template <Scalar T>
struct ListedEdges {
  /// Edges first … first + count − 1 of `storage`. There are unused ones between pieces.
  struct Piece {
    Index first = 0;
    Index count = 0;
  };

  std::vector<Piece> pieces;
  Buffer<ListedEdge<T>, HostSpace> storage;

  ListedEdge<T>* begin(Index piece) noexcept {
    return storage.data() + pieces[static_cast<std::size_t>(piece)].first;
  }
  ListedEdge<T>* end(Index piece) noexcept {
    return begin(piece) + pieces[static_cast<std::size_t>(piece)].count;
  }
};

/// The edges in `text`. Throws `InputError` for the first wrong line. Throws `OutOfMemory`.
template <Scalar T>
ListedEdges<T> parse_edges(HostContext& context, std::string_view text,
                           const EdgeListHeader& header, std::string_view name);

}  // namespace heddle::detail
