#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/linalg/edge_list/edges.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <limits>
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

/// The adjacency matrix of `edges`, which it renumbers.
template <Scalar T>
HostCsrMatrix<T> assemble(HostContext& context, detail::ListedEdges<T> edges, bool undirected,
                          std::string_view name) {
  const VertexRanks ranks(edges);
  if (ranks.count() > detail::kMostIndices) {
    throw InputError(std::string(name), 0,
                     "has " + std::to_string(ranks.count()) +
                         " vertices, 32-bit indices can name no more than " +
                         std::to_string(detail::kMostIndices));
  }
  const auto pieces = static_cast<Index>(edges.pieces.size());
  parallel_for(context.threads(), pieces, [&](Index piece) {
    for (auto* edge = edges.begin(piece); edge != edges.end(piece); ++edge) {
      edge->from = ranks(edge->from);
      edge->to = ranks(edge->to);
    }
  });
  HostCsrMatrix<T> A =
      CsrAssembler<T>(context, ranks.count(), ranks.count())
          .assemble(pieces, [&](Index piece, auto emit) {
            for (const auto* edge = edges.begin(piece); edge != edges.end(piece); ++edge) {
              emit(edge->from, edge->to, edge->weight);
            }
          });
  detail::require_finite_sums(A.values(), A.nnz(), name);
  return undirected ? symmetrize(context, std::as_const(A).view()) : std::move(A);
}

}  // namespace

template <Scalar T>
HostCsrMatrix<T> detail::take_edge_list(HostContext& context, FileContent file,
                                        std::string_view name) {
  const EdgeListHeader header = parse_edge_list_header(file.bytes(), name);
  ListedEdges<T> edges = parse_edges<T>(context, file.bytes(), header, name);
  file.release();
  return assemble(context, std::move(edges), header.undirected, name);
}

template <Scalar T>
HostCsrMatrix<T> parse_edge_list(HostContext& context, std::string_view text,
                                 std::string_view name) {
  const detail::EdgeListHeader header = detail::parse_edge_list_header(text, name);
  return assemble(context, detail::parse_edges<T>(context, text, header, name), header.undirected,
                  name);
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template HostCsrMatrix<T> detail::take_edge_list(HostContext&, FileContent, std::string_view); \
  template HostCsrMatrix<T> parse_edge_list(HostContext&, std::string_view, std::string_view);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
