#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/edge_list/edges.hpp>
#include <heddle/linalg/files/numbers.hpp>
#include <heddle/linalg/files/text_pieces.hpp>
#include <string>
#include <utility>

namespace heddle::detail {
namespace {

bool is_comment(std::string_view line) noexcept {
  return !line.empty() && (line.front() == '#' || line.front() == '%');
}

/// The possible errors in a line.
enum class Fault { none, no_vertex, no_weight, malformed_weight, too_large, not_finite, extra };

template <Scalar T>
Fault read_weight(const char*& position, const char* end, T& weight) noexcept {
  if (position == end) return Fault::no_weight;
  switch (read_value(position, end, weight)) {
    case NumberStatus::ok:
      return Fault::none;
    case NumberStatus::malformed:
      return Fault::malformed_weight;
    case NumberStatus::too_large:
      return Fault::too_large;
    case NumberStatus::not_finite:
      return Fault::not_finite;
  }
  return Fault::malformed_weight;
}

/// Parses a line that is neither blank nor a comment.
template <Scalar T>
Fault read_edge(const char* position, const char* end, bool weighted,
                ListedEdge<T>& edge) noexcept {
  for (Index* vertex : {&edge.from, &edge.to}) {
    position = skip_blanks(position, end);
    if (read_integer(position, end, *vertex) != NumberStatus::ok || *vertex < 0) {
      return Fault::no_vertex;
    }
  }
  edge.weight = T{1};
  position = skip_blanks(position, end);
  if (weighted) {
    const Fault fault = read_weight(position, end, edge.weight);
    if (fault != Fault::none) return fault;
  }
  return skip_blanks(position, end) == end ? Fault::none : Fault::extra;
}

/// The message for a vertex of `line` that is not a number.
std::string describe_vertex(std::string_view line) {
  std::string_view word = next_word(line);
  Index number = 0;
  const char* position = word.data();
  const char* end = word.data() + word.size();
  if (read_integer(position, end, number) == NumberStatus::ok && number >= 0) {
    word = next_word(line);
  }
  if (word.empty()) return "the second vertex of the edge is missing";
  return "the vertex " + detail::quoted(word) + " is not an integer of at least 0 and below 2^63";
}

std::string describe(Fault fault, std::string_view line, bool weighted) {
  if (fault == Fault::no_vertex) return describe_vertex(line);
  next_word(line);
  next_word(line);
  const std::string third = detail::quoted(next_word(line));
  switch (fault) {
    case Fault::no_weight:
      return "the edge has no weight, but the first edge of the file has one";
    case Fault::malformed_weight:
      return "the weight " + third + " is not a number";
    case Fault::too_large:
      return "the weight " + third + " is too large for the precision asked for";
    case Fault::not_finite:
      return "the weight " + third + " is not finite";
    default:
      break;
  }
  if (!weighted) {
    return third + " follows the edge, but the first edge of the file has no weight";
  }
  return detail::quoted(next_word(line)) +
         " follows the edge: a line holds two vertices and a weight";
}

/// Parses `piece` up to its first wrong line into `to`. Returns the number of edges.
template <Scalar T>
Index parse_piece(TextPiece& piece, bool weighted, ListedEdge<T>* to) noexcept {
  ListedEdge<T>* next = to;
  const char* end = piece.text.data() + piece.text.size();
  const char* stop = nullptr;
  for (const char* line = piece.text.data(); line != end; line = stop + (stop != end)) {
    stop = line_end(line, end);
    const char* begin = skip_blanks(line, stop);
    if (begin == stop || *begin == '#' || *begin == '%') continue;
    if (read_edge(begin, stop, weighted, *next) != Fault::none) {
      piece.fault = begin;
      break;
    }
    ++next;
  }
  return next - to;
}

/// Notes what a comment says of the graph.
void read_comment(std::string_view line, std::size_t number, EdgeListHeader& header,
                  std::string_view name) {
  line.remove_prefix(std::min(line.find_first_not_of("#% \t"), line.size()));
  const std::string word = lower_case(next_word(line));
  if (word == "undirected" || word == "sym") header.undirected = true;
  if (word == "bip") {
    throw InputError(std::string(name), number,
                     "the graph is bipartite, and its two sides are numbered apart: only graphs "
                     "with one set of vertices can be read");
  }
}

}  // namespace

EdgeListHeader parse_edge_list_header(std::string_view text, std::string_view name,
                                      bool skips_line) {
  EdgeListHeader header;
  const char* end = text.data() + text.size();
  const char* stop = nullptr;
  std::size_t number = 1;
  for (const char* begin = text.data(); begin != end; begin = stop + (stop != end), ++number) {
    stop = line_end(begin, end);
    const char* const whole = std::exchange(begin, skip_blanks(begin, stop));
    std::string_view line(begin, static_cast<std::size_t>(stop - begin));
    if (is_comment(line)) {
      read_comment(line, number, header, name);
    } else if (!line.empty() && !std::exchange(skips_line, false)) {
      header.begin = static_cast<std::size_t>(whole - text.data());
      next_word(line);
      next_word(line);
      header.weighted = !next_word(line).empty();
      return header;
    }
  }
  header.begin = text.size();
  header.empty = true;
  return header;
}

template <Scalar T>
ListedEdges<T> parse_edges(HostContext& context, std::string_view text,
                           const EdgeListHeader& header, std::string_view name) {
  std::vector<TextPiece> pieces = cut_at_lines(context, text.substr(header.begin));
  ListedEdges<T> edges;
  Index lines = 0;
  for (const TextPiece& piece : pieces) {
    edges.pieces.push_back({.first = lines});
    lines += piece.lines;
  }
  edges.storage = {context, static_cast<std::size_t>(lines)};
  parallel_for(context.threads(), static_cast<Index>(pieces.size()), [&](Index index) {
    const auto i = static_cast<std::size_t>(index);
    edges.pieces[i].count = parse_piece(pieces[i], header.weighted, edges.begin(index));
  });
  for (const TextPiece& piece : pieces) {
    if (piece.fault == nullptr) continue;
    const char* end = line_end(piece.fault, piece.text.data() + piece.text.size());
    ListedEdge<T> ignored;
    const Fault fault = read_edge(piece.fault, end, header.weighted, ignored);
    const std::string_view line(piece.fault, static_cast<std::size_t>(end - piece.fault));
    throw InputError(std::string(name), line_number(text, piece.fault),
                     describe(fault, line, header.weighted));
  }
  return edges;
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template ListedEdges<T> parse_edges(HostContext&, std::string_view, const EdgeListHeader&, \
                                      std::string_view);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
