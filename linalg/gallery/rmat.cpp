#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/edges.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

/// The threshold below which a uniform 32-bit random number lies with this probability.
constexpr std::uint32_t threshold(double probability) {
  return static_cast<std::uint32_t>(probability * 0x1p32);
}

/// The cumulative sums of the quadrants' probabilities 0.57, 0.19, 0.19, 0.05. Source: the Graph500
/// benchmark.
constexpr std::uint32_t kBelowUpperRight = threshold(0.57);
constexpr std::uint32_t kBelowLowerLeft = threshold(0.76);
constexpr std::uint32_t kBelowLowerRight = threshold(0.95);

/// Edge `number`. Each level of the recursion chooses a quadrant of the adjacency matrix, which
/// gives one more bit of both vertices. The code has no branch on the random bits, because such a
/// branch is unpredictable.
template <Scalar T>
Edge<T> rmat_edge(std::uint64_t seed, Index scale, Index number) {
  constexpr Index kBlocksPerEdge = 8;  // of four levels: enough for 32
  Edge<T> edge{0, 0, 1};
  for (Index block = 0; 4 * block < scale; ++block) {
    const PhiloxBlock bits =
        random_block(seed, 0, static_cast<std::uint64_t>(number * kBlocksPerEdge + block));
    for (Index level = 0; level < std::min<Index>(4, scale - 4 * block); ++level) {
      const std::uint32_t random = bits.words[level];
      const Index lower = random >= kBelowLowerLeft;
      const Index right = (random >= kBelowUpperRight) - lower + (random >= kBelowLowerRight);
      edge.u = edge.u << 1 | lower;
      edge.v = edge.v << 1 | right;
    }
  }
  return edge;
}

}  // namespace

/// A power-law graph of 2^scale vertices. density·2^scale edges are drawn, loops are dropped,
/// duplicate edges are merged, and all weights are 1.
template <Scalar T>
HostCsrMatrix<T> rmat(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  const Index scale = spec.size[0];
  const double vertices = std::exp2(static_cast<double>(scale));
  const Index n = checked_rows(spec, vertices);
  check_density(spec, vertices, "vertices");
  const auto edges = static_cast<Index>(std::round(spec.density * vertices));
  HostCsrMatrix<T> A = csr_from_edges<T>(
      context, window.of(n), n, edges, [&](Index k) { return rmat_edge<T>(spec.seed, scale, k); });
  T* const weights = A.values();
  parallel_for(context.threads(), A.nnz(), [weights](Index k) { weights[k] = 1; });
  return A;
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> rmat(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
