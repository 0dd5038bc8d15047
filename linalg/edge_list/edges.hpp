#pragma once

#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/linalg/files/file_content.hpp>
#include <string_view>
#include <vector>

/// The edges of a list, parsed in parallel.
namespace heddle::detail {

/// `parse_edge_list` for a file in memory. It frees the text as soon as it is parsed.
template <Scalar T>
HostCsrMatrix<T> take_edge_list(HostContext& context, FileContent file, std::string_view name,
                                FirstLine first_line);

/// The facts about a list in the lines before its first edge, and in that edge.
struct EdgeListHeader {
  bool weighted = false;    ///< the lines have a weight
  bool undirected = false;  ///< a comment calls the graph undirected
  std::size_t begin = 0;    ///< the place in the text where the line of the first edge begins
  bool empty = false;       ///< there is no edge
};

/// The header of a list whose edges begin with the first line that is no comment, or behind it if
/// `skips_line`. Throws `InputError` for a bipartite graph.
EdgeListHeader parse_edge_list_header(std::string_view text, std::string_view name,
                                      bool skips_line);

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

  Index count() const noexcept {
    Index total = 0;
    for (const Piece& piece : pieces) total += piece.count;
    return total;
  }
  ListedEdge<T>* begin(Index piece) noexcept {
    return storage.data() + pieces[static_cast<std::size_t>(piece)].first;
  }
  ListedEdge<T>* end(Index piece) noexcept {
    return begin(piece) + pieces[static_cast<std::size_t>(piece)].count;
  }
};

/// The edges in `text` from `header.begin` on. Throws `InputError` for the first wrong line. Throws
/// `OutOfMemory`.
template <Scalar T>
ListedEdges<T> parse_edges(HostContext& context, std::string_view text,
                           const EdgeListHeader& header, std::string_view name);

}  // namespace heddle::detail
