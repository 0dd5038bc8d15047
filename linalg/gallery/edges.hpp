#pragma once

#include <heddle/linalg/sparse/csr_assembly.hpp>

namespace heddle::gallery {

/// An undirected edge and its weight. A loop (u = v) is skipped.
template <Scalar T>
struct Edge {
  Index u;
  Index v;
  T weight;
};

/// The symmetric n×n matrix with the weight of `edge(k)` at (u, v) and (v, u), 0 ≤ k < count.
/// Weights of duplicate edges are summed in the order of k. `edge` is called more than once per k,
/// from several threads, and must not throw.
template <Scalar T, class EdgeOf>
HostCsrMatrix<T> csr_from_edges(HostContext& context, Index n, Index count, const EdgeOf& edge) {
  constexpr Index kLeastEdges = 4096;  // edges of a piece of work
  const Slabs pieces = make_slabs(count, kLeastEdges);
  return CsrAssembler<T>(context, n, n).assemble(pieces.count(), [&](Index piece, auto&& emit) {
    for (Index k = pieces.begin(piece); k < pieces.end(piece); ++k) {
      const Edge<T> e = edge(k);
      if (e.u == e.v) continue;
      emit(e.u, e.v, e.weight);
      emit(e.v, e.u, e.weight);
    }
  });
}

}  // namespace heddle::gallery
