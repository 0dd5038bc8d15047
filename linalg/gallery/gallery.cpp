#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/nearest_name.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/gallery/structures.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <initializer_list>
#include <limits>

namespace heddle {
namespace gallery {
namespace {

/// The smallest valid value of each size, and how many of the last sizes may be omitted.
struct SizeRule {
  constexpr SizeRule(std::initializer_list<Index> smallest, std::size_t optional_sizes = 0)
      : most(smallest.size()), fewest(smallest.size() - optional_sizes) {
    std::copy(smallest.begin(), smallest.end(), least.begin());
  }

  std::array<Index, 4> least{};
  std::size_t most;
  std::size_t fewest;
};

template <Scalar T>
using Builder = HostCsrMatrix<T> (*)(HostContext&, const GallerySpec&, const RowWindow&);

/// A structure, the rules for checking a spec of it, and the function that builds the matrix.
template <RealScalar T>
struct Entry {
  GalleryStructure structure;
  Builder<T> build;  ///< null for a complex structure
  SizeRule sizes;
  Builder<std::complex<double>> build_complex = nullptr;  ///< null for a real structure
};

/// The only list of the structures.
template <RealScalar T>
constexpr auto kRegistry = std::to_array<Entry<T>>({
    {{"laplace1d", "[n]", "", 0,
      "Dirichlet Laplacian (2, -1) of a line, eigenvalues 4 sin^2(pi j / (2(n + 1)))"},
     laplacian<T>,
     {1}},
    {{"laplace2d", "[nx, ny]", "", 0,
      "5-point Dirichlet Laplacian (4, -1); eigenvalues are sums of the 1-D ones"},
     laplacian<T>,
     {1, 1}},
    {{"laplace3d", "[nx, ny, nz]", "", 0,
      "7-point Dirichlet Laplacian (6, -1); eigenvalues are sums of the 1-D ones"},
     laplacian<T>,
     {1, 1, 1}},
    {{"stencil27", "[nx, ny, nz]", "", 0,
      "27-point Dirichlet stencil (26, -1), eigenvalues 27 - prod_d (1 + 2 cos(pi j_d / (n_d + "
      "1)))"},
     stencil27<T>,
     {1, 1, 1}},
    {{"elasticity3d", "[nx, ny, nz] elements", "", 0,
      "stiffness of linear elasticity, trilinear unit cubes, E = 1, nu = 0.3, clamped at x = 0; "
      "3 nx (ny + 1)(nz + 1) rows",
      true, 3},
     elasticity_stiffness<T>,
     {1, 1, 1}},
    {{"elasticity3d_mass", "[nx, ny, nz] elements", "", 0,
      "consistent mass of elasticity3d, density 1", true, 3},
     elasticity_mass<T>,
     {1, 1, 1}},
    {{"wathen", "[nx, ny] elements", "", 0,
      "mass of serendipity squares of random density (Wathen 1987); 3 nx ny + 2 nx + 2 ny + 1 "
      "rows, D^-1 A has its spectrum in [1/4, 9/2]"},
     wathen<T>,
     {1, 1}},
    {{"trefethen", "[n]", "", 0,
      "primes on the diagonal, ones where |i - j| is a power of two (Trefethen 2002)"},
     trefethen<T>,
     {1}},
    {{"mikota_stiffness", "[n]", "", 0,
      "K of the pencil K x = lambda M x with the eigenvalues 1, 4, ..., n^2 (Mikota 2001)"},
     mikota_stiffness<T>,
     {1}},
    {{"mikota_mass", "[n]", "", 0, "M of the same pencil, diag(1, 1/2, ..., 1/n)"},
     mikota_mass<T>,
     {1}},
    {{"column", "[n] elements", "", 0,
      "bending stiffness of a column of length 1 with EI = 1, pinned at both ends, by Hermite "
      "cubics; 2 n rows"},
     column_stiffness<T>,
     {1}},
    {{"column_geometric", "[n] elements", "", 0,
      "geometric stiffness of column under a unit force of compression, load factors (pi k)^2",
      false},
     column_geometric<T>,
     {1}},
    {{"random_uniform", "[n] or [rows, cols]", "entries a row", 16,
      "random columns and values in (-1, 1); not symmetric", false},
     random_uniform<T>,
     {{1, 1}, 1}},
    {{"random_symmetric", "[n]", "mean entries a row off the diagonal", 16,
      "random places and values in (-1, 1), diagonal 1 + sum of the row's sizes; positive "
      "definite, eigenvalues at least 1"},
     random_symmetric<T>,
     {1}},
    {{"rmat", "[scale]", "edges drawn a vertex", 16,
      "power-law graph of 2^scale vertices (Chakrabarti, Zhan, Faloutsos 2004; a = 0.57, b = c = "
      "0.19), symmetrised, no loops, weights 1",
      false},
     rmat<T>,
     {1}},
    {{"random_geometric", "[n]", "expected degree", 8,
      "random points of the unit square, joined with weight 1 within a radius (Penrose 2003); no "
      "loops",
      false},
     random_geometric<T>,
     {1}},
    {{"lattice4d", "[nx, ny, nz, nt]", "", 0,
      "periodic 4-D lattice, 39 entries a row: 39, and -1 to 8 neighbours on the axes, 24 on the "
      "planes' diagonals, 6 two steps away in space; smallest eigenvalue 1"},
     lattice4d<T>,
     {5, 5, 5, 3}},
    {{"band", "[n, half_width]", "", 0,
      "full band, -1/k at distance k, diagonally dominant; eigenvalues at least 1"},
     band<T>,
     {1, 0}},
    {{"peierls2d", "[nx, ny]", "flux quanta a plaquette", 0.25,
      "particle on a lattice in a magnetic field: 4, and -exp(i theta) to neighbours, theta = 2 pi "
      "density x in y (Landau gauge), Dirichlet ends (Hofstadter 1976)",
      true, 1, true},
     nullptr,
     {1, 1},
     peierls},
    {{"peierls3d", "[nx, ny, nz]", "flux quanta a plaquette", 0.25,
      "the same in 3-D with the field along z: 6 on the diagonal, theta = 2 pi density x in y",
      true, 1, true},
     nullptr,
     {1, 1, 1},
     peierls},
    {{"random_flux3d", "[nx, ny, nz]", "", 0,
      "6 on the diagonal, and -exp(i theta) to neighbours with a random theta for each bond, "
      "Dirichlet ends",
      true, 1, true},
     nullptr,
     {1, 1, 1},
     random_flux},
    {{"ring_flux", "[n]", "flux quanta in the ring", 0.25,
      "2, and -exp(+-i phi / n) around a ring with the flux phi = 2 pi density; eigenvalues 2 - 2 "
      "cos((2 pi k + phi) / n)",
      false, 1, true},
     nullptr,
     {3},
     ring_flux},
    {{"haldane", "[nx, ny] cells", "", 0,
      "honeycomb with periodic ends, 1 to 3 neighbours, +-0.1 i to 6 second ones (Haldane 1988); "
      "2 nx ny rows, bands +-sqrt(|1 + exp(-i k1) + exp(-i k2)|^2 + m^2), m = 0.2 (sin k1 - sin k2 "
      "+ sin(k2 - k1))",
      false, 1, true},
     nullptr,
     {3, 3},
     haldane},
    {{"random_hermitian", "[n]", "mean entries a row off the diagonal", 16,
      "random_symmetric with entries whose real and imaginary parts are random in (-1, 1); "
      "positive "
      "definite, eigenvalues at least 1",
      true, 1, true},
     nullptr,
     {1},
     random_symmetric<std::complex<double>>},
});

/// The spec in the form used in messages, e.g. "laplace3d [64, 64, 64]".
std::string describe(const GallerySpec& spec) {
  return fmt::format("{} [{}]", spec.name, fmt::join(spec.size, ", "));
}

template <RealScalar T>
const Entry<T>& find(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Entry<T>& entry : kRegistry<T>) {
    if (entry.structure.name == name) return entry;
    names.push_back(entry.structure.name);
  }
  const std::string_view nearest = nearest_name(name, names);
  throw InvalidArgument(
      fmt::format("no generated structure is called \"{}\"{}; there are {}", name,
                  nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest),
                  fmt::join(names, ", ")));
}

template <RealScalar T>
void check_sizes(const Entry<T>& entry, const GallerySpec& spec) {
  const std::size_t given = spec.size.size();
  if (given < entry.sizes.fewest || given > entry.sizes.most) {
    throw InvalidArgument(fmt::format("{}: the size is {}, got {} numbers", describe(spec),
                                      entry.structure.size, given));
  }
  for (std::size_t k = 0; k < given; ++k) {
    if (spec.size[k] < entry.sizes.least[k]) {
      throw InvalidArgument(fmt::format("{}: size {} of {} must be at least {}, got {}",
                                        describe(spec), k + 1, entry.structure.size,
                                        entry.sizes.least[k], spec.size[k]));
    }
  }
}

/// The density to use: the spec's, or the structure's default if that is 0.
double checked_density(const GalleryStructure& structure, const GallerySpec& spec) {
  if (!(std::isfinite(spec.density) && spec.density >= 0)) {
    throw InvalidArgument(
        fmt::format("{}: density must be positive, got {}", describe(spec), spec.density));
  }
  if (spec.density > 0 && structure.density.empty()) {
    throw InvalidArgument(
        fmt::format("{}: this structure has no density, got {}", describe(spec), spec.density));
  }
  return spec.density > 0 ? spec.density : structure.default_density;
}

}  // namespace

Index checked_rows(const GallerySpec& spec, double rows) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (rows > kMost) {
    throw InvalidArgument(
        fmt::format("{} would have {} rows, but 32-bit column indices can name no more than {}",
                    describe(spec), rows, kMost));
  }
  return static_cast<Index>(rows);
}

void check_density(const GallerySpec& spec, double limit, std::string_view what) {
  if (spec.density > limit) {
    throw InvalidArgument(fmt::format("{}: density {} is more than its {} {}", describe(spec),
                                      spec.density, limit, what));
  }
}

}  // namespace gallery

RowWindow RowWindow::of(Index count) const {
  const RowWindow inside{first, std::min(last, count)};
  if (0 <= first && first <= inside.last) return inside;
  throw InvalidArgument(
      fmt::format("rows {} to {} were asked for, but there are {}", first, last, count));
}

const std::vector<GalleryStructure>& gallery_structures() {
  static const std::vector<GalleryStructure> structures = [] {
    std::vector<GalleryStructure> all;
    for (const auto& entry : gallery::kRegistry<double>) all.push_back(entry.structure);
    return all;
  }();
  return structures;
}

bool is_complex_structure(std::string_view name) {
  const std::vector<GalleryStructure>& known = gallery_structures();
  return std::any_of(known.begin(), known.end(), [name](const GalleryStructure& structure) {
    return structure.name == name && structure.complex;
  });
}

template <Scalar T>
HostCsrMatrix<T> generate(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  using Real = RealOf<T>;
  const gallery::Entry<Real>& entry = gallery::find<Real>(spec.name);
  gallery::check_sizes(entry, spec);
  GallerySpec complete = spec;
  complete.density = gallery::checked_density(entry.structure, spec);
  if constexpr (kComplex<T>) {
    if (entry.structure.complex) return entry.build_complex(context, complete, window);
    const HostCsrMatrix<Real> A = entry.build(context, complete, window);
    return convert<T>(context, A.view());
  } else {
    if (!entry.structure.complex) return entry.build(context, complete, window);
    throw InvalidArgument(
        fmt::format("{}: this structure is complex, and was asked for with real entries",
                    gallery::describe(spec)));
  }
}

MultiVector<double, HostSpace> node_coordinates(HostContext& context, const GallerySpec& spec,
                                                const RowWindow& window) {
  gallery::check_sizes(gallery::find<double>(spec.name), spec);
  if (spec.name != "elasticity3d" && spec.name != "elasticity3d_mass") return {};
  return gallery::elasticity_coordinates(context, spec, window);
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> generate(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
