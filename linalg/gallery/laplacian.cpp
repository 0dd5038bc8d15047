#include <algorithm>
#include <array>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/grid.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {

/// The Dirichlet Laplacian on a grid with one dimension per size: 2·(number of dimensions) on the
/// diagonal, −1 for each neighbour along an axis.
template <Scalar T>
HostCsrMatrix<T> laplacian(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  const Grid grid(spec.size);
  const Index n = checked_rows(spec, grid.points());
  const std::array<Index, 3> stride = grid.strides();
  const double diagonal = 2 * static_cast<double>(spec.size.size());
  return csr_by_rows<T>(context, window.of(n), n, [=](Index i, auto&& emit) {
    const std::array<Index, 3> at = grid.coordinates(i);
    for (std::size_t d = 3; d-- > 0;) {
      if (at[d] > 0) emit(i - stride[d], -1);
    }
    emit(i, diagonal);
    for (std::size_t d = 0; d < 3; ++d) {
      if (at[d] + 1 < grid.extent[d]) emit(i + stride[d], -1);
    }
  });
}

/// 26 on the diagonal, −1 for each of the up to 26 neighbours in the surrounding cube: the 27-point
/// stencil with Dirichlet boundary conditions.
template <Scalar T>
HostCsrMatrix<T> stencil27(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  const Grid grid(spec.size);
  const Index n = checked_rows(spec, grid.points());
  return csr_by_rows<T>(context, window.of(n), n, [=](Index i, auto&& emit) {
    const std::array<Index, 3> at = grid.coordinates(i);
    std::array<Index, 3> low;
    std::array<Index, 3> high;
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::max<Index>(at[d] - 1, 0);
      high[d] = std::min<Index>(at[d] + 1, grid.extent[d] - 1);
    }
    for (Index z = low[2]; z <= high[2]; ++z) {
      for (Index y = low[1]; y <= high[1]; ++y) {
        for (Index x = low[0]; x <= high[0]; ++x) {
          const Index j = (z * grid.extent[1] + y) * grid.extent[0] + x;
          emit(j, j == i ? 26 : -1);
        }
      }
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                              \
  template HostCsrMatrix<T> laplacian(HostContext&, const GallerySpec&, const RowWindow&); \
  template HostCsrMatrix<T> stencil27(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
