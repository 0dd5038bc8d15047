#include <algorithm>
#include <array>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/cells.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

/// The consistent mass matrix of the 8-node serendipity square of side 2, times 45. Nodes are
/// numbered counter-clockwise from the top right corner. Source: Higham, The Test Matrix Toolbox
/// for Matlab, 1995, matrix `wathen`.
constexpr double kElement[8][8] = {
    {6, -6, 2, -8, 3, -8, 2, -6}, {-6, 32, -6, 20, -8, 16, -8, 20},
    {2, -6, 6, -6, 2, -8, 3, -8}, {-8, 20, -6, 32, -6, 20, -8, 16},
    {3, -8, 2, -6, 6, -6, 2, -8}, {-8, 16, -8, 20, -6, 32, -6, 20},
    {2, -8, 3, -8, 2, -6, 6, -6}, {-6, 20, -8, 16, -8, 20, -6, 32},
};

/// The element's node at half step (x, y) from its lower left corner. The centre is not a node.
constexpr std::size_t kLocal[3][3] = {{4, 5, 6}, {3, 8, 7}, {2, 1, 0}};

/// nx·ny squares with nodes at corners and mid-sides. In the grid of half steps, a line of even y
/// holds 2nx + 1 nodes, a line of odd y holds nx + 1 nodes (those of even x). Nodes are numbered
/// line by line.
struct SerendipityMesh {
  Index nx, ny;

  double nodes() const {
    const auto x = static_cast<double>(nx);
    const auto y = static_cast<double>(ny);
    return 3 * x * y + 2 * x + 2 * y + 1;
  }
  Index number(Index x, Index y) const {
    const Index line_pair = y / 2 * (3 * nx + 2);
    return y % 2 == 0 ? line_pair + x : line_pair + 2 * nx + 1 + x / 2;
  }
  std::array<Index, 2> half_steps(Index node) const {
    const Index y = node / (3 * nx + 2) * 2;
    const Index rest = node % (3 * nx + 2);
    if (rest <= 2 * nx) return {rest, y};
    return {2 * (rest - 2 * nx - 1), y + 1};
  }
};

}  // namespace

/// The mass matrix of a serendipity mesh whose squares have random densities 100·uniform(0, 1).
template <Scalar T>
HostCsrMatrix<T> wathen(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  const SerendipityMesh mesh{spec.size[0], spec.size[1]};
  const Index n = checked_rows(spec, mesh.nodes());
  const auto density = [&mesh, seed = spec.seed](Index cx, Index cy) {
    const PhiloxBlock bits = random_block(seed, 0, static_cast<std::uint64_t>(cy * mesh.nx + cx));
    return 100 * unit_uniform(bits.words[0], bits.words[1]);
  };
  return csr_by_rows<T>(context, window.of(n), n, [&](Index row, auto&& emit) {
    const auto [x, y] = mesh.half_steps(row);
    for (Index v = std::max<Index>(y - 2, 0); v <= std::min(y + 2, 2 * mesh.ny); ++v) {
      const CellRange rows = shared_cells(y, v, 2, mesh.ny);
      for (Index u = std::max<Index>(x - 2, 0); u <= std::min(x + 2, 2 * mesh.nx); ++u) {
        const CellRange columns = shared_cells(x, u, 2, mesh.nx);
        const bool centre = u % 2 == 1 && v % 2 == 1;
        if (centre || rows.empty() || columns.empty()) continue;
        double sum = 0;
        for (Index cy = rows.first; cy <= rows.last; ++cy) {
          for (Index cx = columns.first; cx <= columns.last; ++cx) {
            sum += density(cx, cy) *
                   kElement[kLocal[y - 2 * cy][x - 2 * cx]][kLocal[v - 2 * cy][u - 2 * cx]];
          }
        }
        emit(mesh.number(u, v), sum / 45);
      }
    }
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> wathen(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
