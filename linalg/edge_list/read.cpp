#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/linalg/edge_list/edges.hpp>
#include <heddle/linalg/edge_list/first_line.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/text_pieces.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace heddle {
namespace {

/// The ranks of the vertices that occur in a list: 0 for the smallest number, and so on. Numbers
/// that lie close together have a table, others are searched for.
class VertexRanks {
 public:
  template <Scalar T>
  explicit VertexRanks(detail::ListedEdges<T>& edges) {
    Index ends = 0;
    Index largest = 0;
    first_ = std::numeric_limits<Index>::max();
    for_each_vertex(edges, [&](Index vertex) {
      ++ends;
      first_ = std::min(first_, vertex);
      largest = std::max(largest, vertex);
    });
    if ((largest - first_) / kTablePerEnd <= ends) {
      fill_table(edges, largest - first_ + 1);
    } else {
      sort(edges, ends);
    }
  }

  Index count() const noexcept { return count_; }

  Index operator()(Index vertex) const noexcept {
    if (sorted_.empty()) return table_[static_cast<std::size_t>(vertex - first_)];
    return std::lower_bound(sorted_.begin(), sorted_.end(), vertex) - sorted_.begin();
  }

 private:
  static constexpr Index kTablePerEnd = 8;  // places of the table per end of an edge

  template <Scalar T, class Visit>
  static void for_each_vertex(detail::ListedEdges<T>& edges, const Visit& visit) {
    for (Index piece = 0; piece < static_cast<Index>(edges.pieces.size()); ++piece) {
      for (const auto* edge = edges.begin(piece); edge != edges.end(piece); ++edge) {
        visit(edge->from);
        visit(edge->to);
      }
    }
  }

  template <Scalar T>
  void fill_table(detail::ListedEdges<T>& edges, Index places) {
    table_.assign(static_cast<std::size_t>(places), 0);
    for_each_vertex(edges,
                    [&](Index vertex) { table_[static_cast<std::size_t>(vertex - first_)] = 1; });
    for (std::int32_t& place : table_) {
      const bool occurs = place != 0;
      place = static_cast<std::int32_t>(count_);
      count_ += occurs;
    }
  }

  template <Scalar T>
  void sort(detail::ListedEdges<T>& edges, Index ends) {
    sorted_.reserve(static_cast<std::size_t>(ends));
    for_each_vertex(edges, [&](Index vertex) { sorted_.push_back(vertex); });
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    count_ = static_cast<Index>(sorted_.size());
  }

  Index count_ = 0;
  Index first_ = 0;
  std::vector<std::int32_t> table_;  // ranks of first_, first_ + 1, …
  std::vector<Index> sorted_;        // the vertices, if there is no table
};

/// Numbers the vertices that occur from 0 on, in ascending order. Returns how many there are.
template <Scalar T>
Index number_by_rank(HostContext& context, detail::ListedEdges<T>& edges, std::string_view name) {
  const VertexRanks ranks(edges);
  if (ranks.count() > detail::kMostIndices) {
    throw InputError(std::string(name), 0,
                     "has " + std::to_string(ranks.count()) +
                         " vertices, 32-bit indices can name no more than " +
                         std::to_string(detail::kMostIndices));
  }
  parallel_for(context.threads(), std::ssize(edges.pieces), [&](Index piece) {
    for (auto* edge = edges.begin(piece); edge != edges.end(piece); ++edge) {
      edge->from = ranks(edge->from);
      edge->to = ranks(edge->to);
    }
  });
  return ranks.count();
}

/// The edges with numbers of rows and columns, and the shape of their matrix.
template <Scalar T>
struct NumberedEdges {
  detail::ListedEdges<T> edges;
  Index rows = 0;
  Index cols = 0;
  bool undirected = false;
};

/// The edges of a text whose first line holds its sizes.
template <Scalar T>
NumberedEdges<T> parse_behind_sizes(HostContext& context, std::string_view text, std::size_t begin,
                                    std::string_view name) {
  const auto sizes = detail::announced_sizes(text, begin);
  if (!sizes) {
    throw InputError(std::string(name), detail::line_number(text, text.data() + begin),
                     "the line holds no sizes, which are two or three integers above 0");
  }
  const detail::EdgeListHeader header = detail::parse_edge_list_header(text, name, true);
  NumberedEdges<T> list{detail::parse_edges<T>(context, text, header, name), sizes->rows,
                        sizes->cols, header.undirected};
  detail::number_by_sizes(*sizes, list.edges, name);
  return list;
}

/// Throws if the first line may hold the sizes of the others, whose edges have another form.
template <Scalar T>
void refuse_sizes_of_another_form(HostContext& context, std::string_view text, bool weighted,
                                  const detail::AnnouncedSizes& sizes, std::string_view name) {
  const detail::EdgeListHeader rest = detail::parse_edge_list_header(text, name, true);
  if (rest.empty || rest.weighted == weighted) return;
  auto edges = detail::parse_edges<T>(context, text, rest, name);
  detail::refuse_matching_sizes(sizes, edges, false, name);
}

template <Scalar T>
NumberedEdges<T> parse(HostContext& context, std::string_view text, std::string_view name,
                       FirstLine first_line) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const detail::EdgeListHeader header = detail::parse_edge_list_header(text, name, false);
  if (header.empty) throw InputError(std::string(name), 0, "is an edge list without edges");
  if (first_line == FirstLine::sizes) {
    return parse_behind_sizes<T>(context, text, header.begin, name);
  }
  const auto sizes =
      first_line == FirstLine::edge ? std::nullopt : detail::announced_sizes(text, header.begin);
  if (sizes) refuse_sizes_of_another_form<T>(context, text, header.weighted, *sizes, name);
  NumberedEdges<T> list{detail::parse_edges<T>(context, text, header, name), 0, 0,
                        header.undirected};
  if (sizes) detail::refuse_matching_sizes(*sizes, list.edges, true, name);
  list.rows = list.cols = number_by_rank(context, list.edges, name);
  return list;
}

template <Scalar T>
HostCsrMatrix<T> assemble(HostContext& context, NumberedEdges<T> list, std::string_view name) {
  if (list.undirected && list.rows != list.cols) {
    throw InputError(std::string(name), 0, "an undirected graph has as many rows as columns");
  }
  HostCsrMatrix<T> A = CsrAssembler<T>(context, list.rows, list.cols)
                           .assemble(std::ssize(list.edges.pieces), [&](Index piece, auto emit) {
                             for (const auto* edge = list.edges.begin(piece);
                                  edge != list.edges.end(piece); ++edge) {
                               emit(edge->from, edge->to, edge->weight);
                             }
                           });
  detail::require_finite_sums(A.values(), A.nnz(), name);
  return list.undirected ? symmetrize(context, std::as_const(A).view()) : std::move(A);
}

}  // namespace

template <Scalar T>
HostCsrMatrix<T> detail::take_edge_list(HostContext& context, FileContent file,
                                        std::string_view name, FirstLine first_line) {
  NumberedEdges<T> list = parse<T>(context, file.bytes(), name, first_line);
  file.release();
  return assemble(context, std::move(list), name);
}

template <Scalar T>
HostCsrMatrix<T> parse_edge_list(HostContext& context, std::string_view text, std::string_view name,
                                 FirstLine first_line) {
  return assemble(context, parse<T>(context, text, name, first_line), name);
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template HostCsrMatrix<T> detail::take_edge_list(HostContext&, FileContent, std::string_view, \
                                                   FirstLine);                                  \
  template HostCsrMatrix<T> parse_edge_list(HostContext&, std::string_view, std::string_view,   \
                                            FirstLine);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
