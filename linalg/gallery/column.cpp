#include <array>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

/// The matrix of one element, for the deflection and the slope at its two ends.
using Element = std::array<std::array<double, 4>, 4>;

/// The sum of n elements along a column. Unknowns are the slope and the deflection at each node,
/// node by node, without the deflections at the two ends of the column.
template <Scalar T>
HostCsrMatrix<T> assembled(HostContext& context, const GallerySpec& spec, const RowWindow& window,
                           const Element& element) {
  const Index n = spec.size[0];
  const Index rows = checked_rows(spec, 2 * static_cast<double>(n));
  return csr_by_rows<T>(context, window.of(rows), rows, [&](Index i, auto&& emit) {
    // Before the two unknowns are left out: 2·node for a deflection, 2·node + 1 for a slope.
    const Index row = i + 1 < rows ? i + 1 : 2 * n + 1;
    const Index node = row / 2;
    for (Index column = 2 * (node - 1); column <= 2 * (node + 1) + 1; ++column) {
      if (column < 1 || column == 2 * n || column > 2 * n + 1) continue;
      double sum = 0;
      for (Index first = 2 * (node - 1); first <= 2 * node; first += 2) {  // of an element
        if (first < 0 || first >= 2 * n || column < first || column > first + 3) continue;
        sum += element[static_cast<std::size_t>(row - first)]
                      [static_cast<std::size_t>(column - first)];
      }
      if (sum != 0) emit(column < 2 * n ? column - 1 : rows - 1, sum);
    }
  });
}

}  // namespace

/// The bending stiffness of a column of length 1 and bending stiffness EI = 1, pinned at both ends,
/// by Hermite cubics. Source: Przemieniecki, Theory of Matrix Structural Analysis, 1968, 5.6.
template <Scalar T>
HostCsrMatrix<T> column_stiffness(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window) {
  const double h = 1 / static_cast<double>(spec.size[0]);
  const double a = 12 / (h * h * h), b = 6 / (h * h), c = 4 / h, d = 2 / h;
  return assembled<T>(context, spec, window,
                      {{{a, b, -a, b}, {b, c, -b, d}, {-a, -b, a, -b}, {b, d, -b, c}}});
}

/// The geometric stiffness of this column under a unit force of compression. Source: the
/// same, 15.2.
template <Scalar T>
HostCsrMatrix<T> column_geometric(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window) {
  const double h = 1 / static_cast<double>(spec.size[0]);
  const double a = -6 / (5 * h), b = -0.1, c = -2 * h / 15, d = h / 30;
  return assembled<T>(context, spec, window,
                      {{{a, b, -a, b}, {b, c, -b, d}, {-a, -b, a, -b}, {b, d, -b, c}}});
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template HostCsrMatrix<T> column_stiffness(HostContext&, const GallerySpec&, const RowWindow&); \
  template HostCsrMatrix<T> column_geometric(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
