#pragma once

#include <heddle/linalg/edge_list/edges.hpp>
#include <optional>
#include <string_view>

/// The first line of an edge list, which some programs use for the sizes of the list.
namespace heddle::detail {

/// The sizes that a line announces.
struct AnnouncedSizes {
  Index rows = 0;
  Index cols = 0;
  Index edges = 0;
  std::string_view words;  ///< the text of the line
  std::size_t line = 0;    ///< its number in the file
};

/// The sizes in the line of `text` that begins at `begin`: of two numbers (vertices and edges) or
/// three (rows, columns and entries). None if the line does not hold two or three integers, each at
/// least 1.
std::optional<AnnouncedSizes> announced_sizes(std::string_view text, std::size_t begin);

/// Throws `InputError` if `sizes` are those of `edges`, without the first one if `skips_first`: the
/// number of edges, and no vertex above the number of vertices.
template <Scalar T>
void refuse_matching_sizes(const AnnouncedSizes& sizes, ListedEdges<T>& edges, bool skips_first,
                           std::string_view name);

/// Makes vertices of row and column numbers. Throws `InputError` for edges that do not fit `sizes`.
template <Scalar T>
void number_by_sizes(const AnnouncedSizes& sizes, ListedEdges<T>& edges, std::string_view name);

}  // namespace heddle::detail
