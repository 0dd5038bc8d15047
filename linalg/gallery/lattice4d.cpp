
#include <algorithm>
#include <array>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

using Site = std::array<Index, 4>;

/// The 38 steps from a site to its neighbours. The square of the nearest-neighbour operator couples
/// a site with 8 neighbours along the axes, 24 along the diagonals of the 6 coordinate planes, and
/// 8 at distance two along the axes. Anisotropic lattices improve the operator in space only, which
/// omits the two at distance two along t: 8 + 24 + 6.
constexpr std::array<Site, 38> neighbour_steps() {
  std::array<Site, 38> steps{};
  std::size_t count = 0;
  for (std::size_t d = 0; d < 4; ++d) {
    for (const Index sign : {-1, 1}) {
      steps[count++][d] = sign;
      if (d < 3) steps[count++][d] = 2 * sign;
      for (std::size_t e = 0; e < d; ++e) {
        for (const Index other : {-1, 1}) {
          steps[count][d] = sign;
          steps[count++][e] = other;
        }
      }
    }
  }
  return steps;
}

constexpr std::array<Site, 38> kSteps = neighbour_steps();

/// A periodic lattice. Sites are numbered with x fastest.
struct Torus {
  Site extent;

  Site site(Index number) const {
    Site at;
    for (std::size_t d = 0; d < 4; ++d) {
      at[d] = number % extent[d];
      number /= extent[d];
    }
    return at;
  }
  Index number(const Site& at, const Site& step) const {
    Index number = 0;
    for (std::size_t d = 4; d-- > 0;) {
      number = number * extent[d] + (at[d] + step[d] + extent[d]) % extent[d];
    }
    return number;
  }
};

}  // namespace

/// 39 on the diagonal, −1 for each of the 38 neighbours on a periodic lattice.
template <Scalar T>
HostCsrMatrix<T> lattice4d(HostContext& context, const GallerySpec& spec, const RowWindow& window) {
  const Torus torus{{spec.size[0], spec.size[1], spec.size[2], spec.size[3]}};
  double sites = 1;
  for (const Index extent : torus.extent) sites *= static_cast<double>(extent);
  const Index n = checked_rows(spec, sites);
  return csr_by_rows<T>(context, window.of(n), n, [&torus](Index i, auto&& emit) {
    const Site at = torus.site(i);
    std::array<Index, 39> columns;
    for (std::size_t k = 0; k < kSteps.size(); ++k) columns[k] = torus.number(at, kSteps[k]);
    columns.back() = i;
    std::sort(columns.begin(), columns.end());
    for (const Index j : columns) emit(j, j == i ? 39 : -1);
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> lattice4d(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
