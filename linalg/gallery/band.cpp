#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {

/// The Toeplitz matrix with −1/k at distance k = 1 … half_width from the diagonal, and a diagonal
/// that exceeds the sum of the others in an inner row by 1.
template <Scalar T>
HostCsrMatrix<T> band(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  const Index n = checked_rows(spec, static_cast<double>(spec.size[0]));
  const Index half_width = std::min(spec.size[1], n - 1);
  double diagonal = 1;
  for (Index k = half_width; k > 0; --k) diagonal += 2 / static_cast<double>(k);
  return csr_by_rows<T>(context, window.of(n), n, [=](Index i, auto&& emit) {
    const Index last = std::min(i + half_width, n - 1);
    for (Index j = std::max<Index>(i - half_width, 0); j < i; ++j) {
      emit(j, -1 / static_cast<double>(i - j));
    }
    emit(i, diagonal);
    for (Index j = i + 1; j <= last; ++j) emit(j, -1 / static_cast<double>(j - i));
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> band(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
