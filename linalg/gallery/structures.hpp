#pragma once

#include <heddle/linalg/gallery/gallery.hpp>

/// The generators behind the gallery's names. Each takes a spec whose sizes and density the
/// registry has checked and filled in; what the structure is stands beside its name there and with
/// its definition.
namespace heddle::gallery {

/// `rows` as a row count. Throws `InvalidArgument` with the spec and both numbers if 32-bit column
/// indices cannot name that many.
Index checked_rows(const GallerySpec& spec, double rows);

/// Throws `InvalidArgument` if the spec's density is more than `limit`; `what` says what the limit
/// is, e.g. "columns".
void check_density(const GallerySpec& spec, double limit, std::string_view what);

template <Scalar T>
HostCsrMatrix<T> laplacian(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> stencil27(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> elasticity_stiffness(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> elasticity_mass(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> wathen(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> trefethen(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> mikota_stiffness(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> mikota_mass(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> random_uniform(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> random_symmetric(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> rmat(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> random_geometric(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> lattice4d(HostContext& context, const GallerySpec& spec);
template <Scalar T>
HostCsrMatrix<T> band(HostContext& context, const GallerySpec& spec);

}  // namespace heddle::gallery
