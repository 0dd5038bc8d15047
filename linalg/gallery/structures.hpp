#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>

/// The generators of the gallery's structures. Each takes a spec whose sizes and density have been
/// checked and completed, and makes the rows of a window. A structure is described in the list of
/// `gallery_structures` and at its generator's definition.
namespace heddle::gallery {

/// `rows` as an integer. Throws `InvalidArgument` with the spec and both numbers if 32-bit column
/// indices cannot address that many.
Index checked_rows(const GallerySpec& spec, double rows);

/// Throws `InvalidArgument` if the spec's density exceeds `limit`. `what` names the limit in the
/// message, e.g. "columns".
void check_density(const GallerySpec& spec, double limit, std::string_view what);

template <Scalar T>
HostCsrMatrix<T> laplacian(HostContext& context, const GallerySpec& spec, const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> stencil27(HostContext& context, const GallerySpec& spec, const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> elasticity_stiffness(HostContext& context, const GallerySpec& spec,
                                      const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> elasticity_mass(HostContext& context, const GallerySpec& spec,
                                 const RowWindow& window);
MultiVector<double, HostSpace> elasticity_coordinates(HostContext& context, const GallerySpec& spec,
                                                      const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> wathen(HostContext& context, const GallerySpec& spec, const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> trefethen(HostContext& context, const GallerySpec& spec, const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> mikota_stiffness(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> mikota_mass(HostContext& context, const GallerySpec& spec,
                             const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> column_stiffness(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> column_geometric(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> random_uniform(HostContext& context, const GallerySpec& spec,
                                const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> random_symmetric(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> rmat(HostContext& context, const GallerySpec& spec, const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> random_geometric(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> lattice4d(HostContext& context, const GallerySpec& spec, const RowWindow& window);
template <Scalar T>
HostCsrMatrix<T> band(HostContext& context, const GallerySpec& spec, const RowWindow& window);

// Complex structures.
HostCsrMatrix<std::complex<double>> peierls(HostContext& context, const GallerySpec& spec,
                                            const RowWindow& window);
HostCsrMatrix<std::complex<double>> random_flux(HostContext& context, const GallerySpec& spec,
                                                const RowWindow& window);
HostCsrMatrix<std::complex<double>> ring_flux(HostContext& context, const GallerySpec& spec,
                                              const RowWindow& window);
HostCsrMatrix<std::complex<double>> haldane(HostContext& context, const GallerySpec& spec,
                                            const RowWindow& window);

}  // namespace heddle::gallery
