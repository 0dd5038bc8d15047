#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/edge_list/first_line.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/numbers.hpp>
#include <heddle/linalg/files/text_pieces.hpp>
#include <limits>
#include <string>

namespace heddle::detail {
namespace {

/// The numbers that occur in a list.
struct VertexRange {
  Index smallest = std::numeric_limits<Index>::max();
  Index row = 0;  // the largest ones
  Index col = 0;
};

template <Scalar T>
VertexRange range_of(ListedEdges<T>& edges, bool skips_first) {
  VertexRange range;
  for (Index piece = 0; piece < std::ssize(edges.pieces); ++piece) {
    const Index skipped = piece == 0 && skips_first ? 1 : 0;
    for (const auto* edge = edges.begin(piece) + skipped; edge < edges.end(piece); ++edge) {
      range.smallest = std::min({range.smallest, edge->from, edge->to});
      range.row = std::max(range.row, edge->from);
      range.col = std::max(range.col, edge->to);
    }
  }
  return range;
}

}  // namespace

std::optional<AnnouncedSizes> announced_sizes(std::string_view text, std::size_t begin) {
  const char* position = text.data() + begin;
  const char* const end = line_end(position, text.data() + text.size());
  AnnouncedSizes sizes;
  sizes.line = line_number(text, position);
  position = skip_blanks(position, end);
  sizes.words = {position, static_cast<std::size_t>(end - position)};
  while (!sizes.words.empty() && is_blank(sizes.words.back())) sizes.words.remove_suffix(1);
  std::array<Index, 3> numbers{};
  std::size_t count = 0;
  for (; position != end && count < numbers.size(); ++count) {
    if (read_integer(position, end, numbers[count]) != NumberStatus::ok || numbers[count] < 1) {
      return std::nullopt;
    }
    position = skip_blanks(position, end);
  }
  if (position != end || count < 2) return std::nullopt;
  sizes.rows = numbers[0];
  sizes.cols = count == 2 ? numbers[0] : numbers[1];
  sizes.edges = numbers[count - 1];
  return sizes;
}

template <Scalar T>
void refuse_matching_sizes(const AnnouncedSizes& sizes, ListedEdges<T>& edges, bool skips_first,
                           std::string_view name) {
  if (edges.count() - (skips_first ? 1 : 0) != sizes.edges) return;
  const VertexRange range = range_of(edges, skips_first);
  if (range.row > sizes.rows || range.col > sizes.cols) return;
  throw InputError(
      std::string(name), sizes.line,
      fmt::format("{} may be an edge, or the sizes of the list, as {} {} and numbers up to {} "
                  "follow: say first_line: edge (--first-line edge) or first_line: sizes "
                  "(--first-line sizes)",
                  quoted(sizes.words), sizes.edges, sizes.edges == 1 ? "line" : "lines",
                  std::max(range.row, range.col)));
}

template <Scalar T>
void number_by_sizes(const AnnouncedSizes& sizes, ListedEdges<T>& edges, std::string_view name) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(std::string(name), sizes.line,
                     fmt::format("the sizes {} {}", quoted(sizes.words), what));
  };
  const Index count = edges.count();
  if (count != sizes.edges) refuse(fmt::format("announce {} lines, {} follow", sizes.edges, count));
  if (std::max(sizes.rows, sizes.cols) > kMostIndices ||
      !is_plausible(std::max(sizes.rows, sizes.cols), count)) {
    refuse("are too large");
  }
  const VertexRange range = range_of(edges, false);
  const Index first = range.smallest == 0 ? 0 : 1;
  if (range.row - first >= sizes.rows || range.col - first >= sizes.cols) {
    refuse(fmt::format("leave no room for the edge of {}, with numbers from {}",
                       range.row - first >= sizes.rows ? range.row : range.col, first));
  }
  for (Index piece = 0; piece < std::ssize(edges.pieces); ++piece) {
    for (auto* edge = edges.begin(piece); edge != edges.end(piece); ++edge) {
      edge->from -= first;
      edge->to -= first;
    }
  }
}

#define HEDDLE_INSTANTIATE(T)                                                       \
  template void refuse_matching_sizes(const AnnouncedSizes&, ListedEdges<T>&, bool, \
                                      std::string_view);                            \
  template void number_by_sizes(const AnnouncedSizes&, ListedEdges<T>&, std::string_view);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
