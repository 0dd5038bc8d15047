#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {

/// The stiffness matrix of a chain of springs of stiffness n, n − 1, …, 1, fixed at its first end.
template <Scalar T>
HostCsrMatrix<T> mikota_stiffness(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window) {
  const Index n = checked_rows(spec, static_cast<double>(spec.size[0]));
  return csr_by_rows<T>(context, window.of(n), n, [n](Index i, auto&& emit) {
    const auto spring = [n](Index k) { return static_cast<double>(n - k); };
    if (i > 0) emit(i - 1, -spring(i));
    emit(i, spring(i) + spring(i + 1));
    if (i + 1 < n) emit(i + 1, -spring(i + 1));
  });
}

/// The diagonal mass matrix with masses 1, 1/2, …, 1/n at the ends of the springs.
template <Scalar T>
HostCsrMatrix<T> mikota_mass(HostContext& context, const GallerySpec& spec,
                             const RowWindow& window) {
  const Index n = checked_rows(spec, static_cast<double>(spec.size[0]));
  return csr_by_rows<T>(context, window.of(n), n,
                        [](Index i, auto&& emit) { emit(i, 1 / static_cast<double>(i + 1)); });
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template HostCsrMatrix<T> mikota_stiffness(HostContext&, const GallerySpec&, const RowWindow&); \
  template HostCsrMatrix<T> mikota_mass(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
