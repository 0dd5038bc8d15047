#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/gallery/grid.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>
#include <numbers>

/// Particles on lattices in a magnetic field: the entry from a site to its neighbour is −exp(iθ)
/// with a phase θ, and that of the way back is its conjugate.
namespace heddle::gallery {
namespace {

using Complex = std::complex<double>;

/// exp(2πi·turns), exact where 4·turns is an integer.
Complex phase(double turns) noexcept {
  const double part = std::fmod(turns, 1);
  const double quarters = std::round(4 * part);
  const double rest = 2 * std::numbers::pi * (part - quarters / 4);
  const double c = std::cos(rest), s = std::sin(rest);
  switch (static_cast<int>(quarters) & 3) {
    case 0:
      return {c, s};
    case 1:
      return {0 - s, c};
    case 2:
      return {-c, 0 - s};
    default:
      return {s, -c};
  }
}

/// The operator on a grid with Dirichlet ends that has `diagonal` on the diagonal and
/// −bond(site, at, axis) from the site, which stands at these coordinates, to its upper neighbour
/// along an axis.
template <class Bond>
HostCsrMatrix<Complex> hopping(HostContext& context, const GallerySpec& spec,
                               const RowWindow& window, const Bond& bond) {
  const Grid grid(spec.size);
  const Index n = checked_rows(spec, grid.points());
  const std::array<Index, 3> stride = grid.strides();
  const double diagonal = 2 * static_cast<double>(spec.size.size());
  return csr_by_rows<Complex>(context, window.of(n), n, [&](Index i, auto&& emit) {
    const std::array<Index, 3> at = grid.coordinates(i);
    for (std::size_t d = 3; d-- > 0;) {
      if (at[d] == 0) continue;
      std::array<Index, 3> lower = at;
      --lower[d];
      emit(i - stride[d], -std::conj(bond(i - stride[d], lower, d)));
    }
    emit(i, diagonal);
    for (std::size_t d = 0; d < 3; ++d) {
      if (at[d] + 1 < grid.extent[d]) emit(i + stride[d], -bond(i, at, d));
    }
  });
}

}  // namespace

/// A particle in a uniform field along z, in Landau's gauge: the phase of the bond from (x, y, z)
/// to (x, y + 1, z) is 2π·density·x, others are 0. Each plaquette of the x-y plane has the flux
/// `density`, as a fraction of the flux quantum. 2·(number of dimensions) on the diagonal.
/// Source: D. Hofstadter, Energy levels and wave functions of Bloch electrons in rational and
/// irrational magnetic fields, Phys. Rev. B 14 (1976) 2239.
HostCsrMatrix<Complex> peierls(HostContext& context, const GallerySpec& spec,
                               const RowWindow& window) {
  return hopping(context, spec, window,
                 [&](Index, const std::array<Index, 3>& at, std::size_t axis) {
                   return axis == 1 ? phase(spec.density * static_cast<double>(at[0])) : 1;
                 });
}

/// The same lattice with independent phases, uniform in (0, 2π), on the bonds.
HostCsrMatrix<Complex> random_flux(HostContext& context, const GallerySpec& spec,
                                   const RowWindow& window) {
  return hopping(context, spec, window,
                 [&](Index site, const std::array<Index, 3>&, std::size_t axis) {
                   const auto number = 3 * static_cast<std::uint64_t>(site) + axis;
                   const PhiloxBlock bits = random_block(spec.seed, 0, number);
                   return phase(unit_uniform(bits.words[0], bits.words[1]));
                 });
}

/// 2 on the diagonal and −exp(iφ/n) from each site of a ring to the next one, with the flux
/// φ = 2π·density through the ring.
HostCsrMatrix<Complex> ring_flux(HostContext& context, const GallerySpec& spec,
                                 const RowWindow& window) {
  const Index n = checked_rows(spec, static_cast<double>(spec.size[0]));
  const Complex up = -phase(spec.density / static_cast<double>(n));
  const Complex down = std::conj(up);
  return csr_by_rows<Complex>(context, window.of(n), n, [=](Index i, auto&& emit) {
    if (i == n - 1) emit(0, up);
    if (i > 0) emit(i - 1, down);
    emit(i, 2);
    if (i < n - 1) emit(i + 1, up);
    if (i == 0) emit(n - 1, down);
  });
}

}  // namespace heddle::gallery
