#include <algorithm>
#include <array>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/cells.hpp>
#include <heddle/linalg/gallery/hexahedron.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

/// A node of the mesh by its coordinates.
using Node = std::array<Index, 3>;

/// A box of nx·ny·nz unit cubes, clamped where x = 0: nodes there have no unknowns. The other nodes
/// are numbered with x fastest and have three unknowns each.
struct ClampedBox {
  std::array<Index, 3> cubes;

  explicit ClampedBox(const std::vector<Index>& size) : cubes{size[0], size[1], size[2]} {}

  double unknowns() const {
    return 3 * static_cast<double>(cubes[0]) * (static_cast<double>(cubes[1]) + 1) *
           (static_cast<double>(cubes[2]) + 1);
  }
  Index number(const Node& at) const {
    return (at[2] * (cubes[1] + 1) + at[1]) * cubes[0] + at[0] - 1;
  }
  Node node(Index number) const {
    const Index line = number / cubes[0];
    return {number % cubes[0] + 1, line % (cubes[1] + 1), line / (cubes[1] + 1)};
  }
};

/// The coupling of unknown `component` of node p with the three unknowns of node q: a sum over the
/// cubes that contain both nodes. The order of the sum is fixed, so the matrix is exactly symmetric
/// if its element matrix is.
std::array<double, 3> coupling(const ClampedBox& box, const HexahedronMatrix& element,
                               const Node& p, std::size_t component, const Node& q) {
  std::array<CellRange, 3> shared;
  for (std::size_t d = 0; d < 3; ++d) shared[d] = shared_cells(p[d], q[d], 1, box.cubes[d]);
  std::array<double, 3> sum{};
  for (Index z = shared[2].first; z <= shared[2].last; ++z) {
    for (Index y = shared[1].first; y <= shared[1].last; ++y) {
      for (Index x = shared[0].first; x <= shared[0].last; ++x) {
        const auto a = static_cast<std::size_t>((p[0] - x) + 2 * (p[1] - y) + 4 * (p[2] - z));
        const auto b = static_cast<std::size_t>((q[0] - x) + 2 * (q[1] - y) + 4 * (q[2] - z));
        for (std::size_t j = 0; j < 3; ++j) sum[j] += element[3 * a + component][3 * b + j];
      }
    }
  }
  return sum;
}

/// Assembles the element matrix over the box. If `components_couple` is false, entries between
/// different directions are zero and are not stored.
template <Scalar T>
HostCsrMatrix<T> assemble(HostContext& context, const GallerySpec& spec, const RowWindow& window,
                          const HexahedronMatrix& element, bool components_couple) {
  const ClampedBox box(spec.size);
  const Index n = checked_rows(spec, box.unknowns());
  return csr_by_rows<T>(context, window.of(n), n, [&](Index row, auto&& emit) {
    const Node p = box.node(row / 3);
    const auto component = static_cast<std::size_t>(row % 3);
    Node q;
    for (q[2] = std::max<Index>(p[2] - 1, 0); q[2] <= std::min(p[2] + 1, box.cubes[2]); ++q[2]) {
      for (q[1] = std::max<Index>(p[1] - 1, 0); q[1] <= std::min(p[1] + 1, box.cubes[1]); ++q[1]) {
        for (q[0] = std::max<Index>(p[0] - 1, 1); q[0] <= std::min(p[0] + 1, box.cubes[0]);
             ++q[0]) {
          const std::array<double, 3> entries = coupling(box, element, p, component, q);
          for (std::size_t j = 0; j < 3; ++j) {
            if (components_couple || j == component) {
              emit(3 * box.number(q) + static_cast<Index>(j), entries[j]);
            }
          }
        }
      }
    }
  });
}

}  // namespace

/// The stiffness matrix for Young's modulus 1 and Poisson's ratio 0.3.
template <Scalar T>
HostCsrMatrix<T> elasticity_stiffness(HostContext& context, const GallerySpec& spec,
                                      const RowWindow& window) {
  return assemble<T>(context, spec, window, hexahedron_stiffness(1, 0.3), true);
}

/// The mass matrix for density 1, with the unknowns numbered as in the stiffness matrix.
template <Scalar T>
HostCsrMatrix<T> elasticity_mass(HostContext& context, const GallerySpec& spec,
                                 const RowWindow& window) {
  return assemble<T>(context, spec, window, hexahedron_mass(), false);
}

MultiVector<double, HostSpace> elasticity_coordinates(HostContext& context, const GallerySpec& spec,
                                                      const RowWindow& window) {
  const ClampedBox box(spec.size);
  const RowWindow nodes = window.of(checked_rows(spec, box.unknowns()) / 3);
  MultiVector<double, HostSpace> X(context, nodes.rows(), 3);
  for (Index i = 0; i < X.rows(); ++i) {
    const Node at = box.node(nodes.first + i);
    for (Index d = 0; d < 3; ++d) {
      X.view()(i, d) = static_cast<double>(at[static_cast<std::size_t>(d)]);
    }
  }
  return X;
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template HostCsrMatrix<T> elasticity_stiffness(HostContext&, const GallerySpec&, \
                                                 const RowWindow&);                \
  template HostCsrMatrix<T> elasticity_mass(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
