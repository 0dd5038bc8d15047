#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <string_view>

/// Graphs as lists of edges, as SNAP and KONECT publish them.
///
/// A line holds two vertices, and a weight either in every line or in none, separated by blanks or
/// tabs. Lines that begin with # or % are comments. Vertices are integers of at least 0. The rows
/// of the matrix are the vertices that occur, in ascending order: row k belongs to the vertex with
/// the k-th smallest number, whether numbers begin with 0, with 1 or anywhere, and leave gaps or
/// not.
///
/// A line "i j w" is the entry w, or 1, in the row of i and the column of j. Edges given twice are
/// summed. If a comment before the first edge begins with "Undirected" (SNAP) or "sym" (KONECT),
/// the matrix is made symmetric as `symmetrize` does. Else a list that holds each edge once is a
/// directed graph.
///
/// Some programs begin a list with its sizes, "vertices edges" or "rows columns entries". Such a
/// line looks like an edge. See `FirstLine`.
///
/// The reader throws an `InputError` with the file and the first wrong line for lines that are no
/// edges, values too large for T, NaN and Inf, a list without edges, and bipartite graphs of
/// KONECT, whose two sides are numbered apart.
/// Sources: https://snap.stanford.edu/data, J. Kunegis, Handbook of Network Analysis (KONECT), 2.1.
namespace heddle {

/// The content of the first line of an edge list that is no comment.
enum class FirstLine {
  automatic,  ///< an edge. A line that fits the sizes of the lines behind it, too, is refused
  edge,
  sizes,  ///< the sizes. Vertices are numbered from 0 if there is a 0, else from 1
};

/// The adjacency matrix of the graph in `text`. Messages use `name` for the file. Parses in
/// parallel on the context's threads and gives the same bits for any number of them. Throws
/// `InputError`, `OutOfMemory`.
template <Scalar T>
HostCsrMatrix<T> parse_edge_list(HostContext& context, std::string_view text, std::string_view name,
                                 FirstLine first_line = FirstLine::automatic);

}  // namespace heddle
