#include <array>
#include <cmath>
#include <heddle/linalg/gallery/edges.hpp>
#include <heddle/linalg/gallery/structures.hpp>
#include <heddle/linalg/philox.hpp>

namespace heddle::gallery {
namespace {

/// The share of 2³² random numbers that fall below `probability`.
constexpr std::uint64_t threshold(double probability) {
  return static_cast<std::uint64_t>(probability * 0x1p32);
}

/// The quadrants' probabilities 0.57, 0.19, 0.19, 0.05, summed up. Source: the Graph500 benchmark.
constexpr std::array<std::uint64_t, 3> kBelow{threshold(0.57), threshold(0.76), threshold(0.95)};

/// Edge `number`: each level of the recursion picks a quadrant of the adjacency matrix, which gives
/// one more bit of either end.
template <Scalar T>
Edge<T> rmat_edge(std::uint64_t seed, Index scale, Index number) {
  constexpr std::uint64_t kBlocksPerEdge = 8;  // of four levels: enough for 32
  Edge<T> edge{0, 0, 1};
  PhiloxBlock bits{};
  for (Index level = 0; level < scale; ++level) {
    if (level % 4 == 0) {
      bits = random_block(seed, 0,
                          static_cast<std::uint64_t>(number) * kBlocksPerEdge +
                              static_cast<std::uint64_t>(level / 4));
    }
    const std::uint64_t random = bits.words[level % 4];
    const Index quadrant = (random >= kBelow[0] ? 1 : 0) + (random >= kBelow[1] ? 1 : 0) +
                           (random >= kBelow[2] ? 1 : 0);
    edge.u = 2 * edge.u + quadrant / 2;
    edge.v = 2 * edge.v + quadrant % 2;
  }
  return edge;
}

}  // namespace

/// A power-law graph of 2^scale vertices: density·2^scale edges drawn, loops dropped, edges met
/// twice merged, all weights 1.
template <Scalar T>
HostCsrMatrix<T> rmat(HostContext& context, const GallerySpec& spec) {
  const Index scale = spec.size[0];
  const double vertices = std::exp2(static_cast<double>(scale));
  const Index n = checked_rows(spec, vertices);
  check_density(spec, vertices, "vertices");
  const auto edges = static_cast<Index>(std::round(spec.density * vertices));
  HostCsrMatrix<T> A = csr_from_edges<T>(
      context, n, edges, [&](Index k) { return rmat_edge<T>(spec.seed, scale, k); });
  T* const weights = A.values();
  parallel_for(context.threads(), A.nnz(), [weights](Index k) { weights[k] = 1; });
  return A;
}

template HostCsrMatrix<float> rmat(HostContext&, const GallerySpec&);
template HostCsrMatrix<double> rmat(HostContext&, const GallerySpec&);

}  // namespace heddle::gallery
