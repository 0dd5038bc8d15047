#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/edges.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

/// A pair of vertices drawn uniformly, with a weight uniform in (−1, 1), or whose parts are.
template <Scalar T>
Edge<T> random_edge(std::uint64_t seed, Index n, Index number) {
  const auto k = static_cast<std::uint64_t>(number);
  const PhiloxBlock ends = random_block(seed, 0, k);
  const PhiloxBlock weight = random_block(seed, 1, k);
  Wide<T> value = signed_uniform(weight.words[0], weight.words[1]);
  if constexpr (kComplex<T>) value.imag(signed_uniform(weight.words[2], weight.words[3]));
  return {uniform_below(ends.words[0], ends.words[1], n),
          uniform_below(ends.words[2], ends.words[3], n), static_cast<T>(value)};
}

}  // namespace

/// The matrix of density·n/2 random edges with random weights. Loops are dropped, weights of
/// duplicate edges are summed. Each diagonal entry exceeds the sum of the absolute values of its
/// row's other entries by 1. Hermitian for a complex T.
template <Scalar T>
HostCsrMatrix<T> random_symmetric(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window) {
  const Index n = checked_rows(spec, static_cast<double>(spec.size[0]));
  check_density(spec, static_cast<double>(n - 1), "other columns");
  const auto edges = static_cast<Index>(std::round(spec.density * static_cast<double>(n) / 2));
  const RowWindow rows = window.of(n);
  const HostCsrMatrix<T> weights = csr_from_edges<T>(
      context, rows, n, edges, [&](Index k) { return random_edge<T>(spec.seed, n, k); });
  return csr_by_rows<T>(context, rows, n, [&rows, W = weights.view()](Index i, auto&& emit) {
    double diagonal = 1;
    const Index begin = W.row_offsets[i - rows.first];
    const Index end = W.row_offsets[i - rows.first + 1];
    for (Index k = begin; k < end; ++k) diagonal += std::abs(static_cast<Wide<T>>(W.values[k]));
    Index k = begin;
    for (; k < end && W.columns[k] < i; ++k) emit(W.columns[k], W.values[k]);
    emit(i, diagonal);
    for (; k < end; ++k) emit(W.columns[k], W.values[k]);
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> random_symmetric(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
