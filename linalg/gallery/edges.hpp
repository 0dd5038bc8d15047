#pragma once

#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>

namespace heddle::gallery {

/// An undirected edge and its weight. A loop (u = v) is skipped.
template <Scalar T>
struct Edge {
  Index u;
  Index v;
  T weight;
};

/// Rows `window` of the n×n matrix with the weight of `edge(k)` at (u, v) and its conjugate at
/// (v, u), 0 ≤ k < count, which is symmetric or Hermitian.
/// Weights of duplicate edges are summed in the order of k. `edge` is called more than once per k,
/// from several threads, and must not throw.
template <Scalar T, class EdgeOf>
HostCsrMatrix<T> csr_from_edges(HostContext& context, const RowWindow& window, Index n, Index count,
                                const EdgeOf& edge) {
  constexpr Index kLeastEdges = 4096;  // edges of a piece of work
  const Slabs pieces = make_slabs(count, kLeastEdges);
  CsrAssembler<T> rows(context, window.rows(), n);
  return rows.assemble(pieces.count(), [&](Index piece, auto&& emit) {
    const auto place = [&](Index u, Index v, T weight) {
      if (window.first <= u && u < window.last) emit(u - window.first, v, weight);
    };
    for (Index k = pieces.begin(piece); k < pieces.end(piece); ++k) {
      const Edge<T> e = edge(k);
      if (e.u == e.v) continue;
      place(e.u, e.v, e.weight);
      place(e.v, e.u, conjugate(e.weight));
    }
  });
}

}  // namespace heddle::gallery
