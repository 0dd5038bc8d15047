#include <algorithm>
#include <array>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>

namespace heddle::gallery {
namespace {

using Complex = std::complex<double>;

struct HaldaneEntry {
  Index column;
  Complex value;
};

}  // namespace

/// Haldane's model of a honeycomb of nx×ny cells with periodic ends. Cell (x, y) has the rows
/// 2(x + nx·y) of its site A and the next one of its site B. The diagonal is 0. A has the entry 1
/// to the B of its own cell, of (x − 1, y) and of (x, y − 1). A has the entry 0.1·i to the A of the
/// cells at (1, 0), (0, −1) and (−1, 1) from its own, and −0.1·i to those opposite. Between sites
/// B, these two have the other sign. With k₁ = 2πp/nx and k₂ = 2πq/ny, the bands are
///
///     λ = ±(|1 + exp(−ik₁) + exp(−ik₂)|² + m²)^(1/2),
///     m = 0.2 (sin k₁ − sin k₂ + sin(k₂ − k₁)).
///
/// Source: F. Haldane, Model for a quantum Hall effect without Landau levels, Phys. Rev. Lett. 61
/// (1988) 2015, with t₁ = 1, t₂ = 0.1, φ = π/2, M = 0.
HostCsrMatrix<Complex> haldane(HostContext& context, const GallerySpec& spec,
                               const RowWindow& window) {
  const Index nx = spec.size[0], ny = spec.size[1];
  const Index n = checked_rows(spec, 2 * static_cast<double>(nx) * static_cast<double>(ny));
  constexpr Complex kTurn{0, 0.1};
  return csr_by_rows<Complex>(context, window.of(n), n, [=](Index i, auto&& emit) {
    const Index cell = i / 2, x = cell % nx, y = cell / nx;
    const Index b = i % 2;  // 0: the site A, 1: B
    const auto site = [&](Index dx, Index dy, Index which) {
      return 2 * ((x + dx + nx) % nx + nx * ((y + dy + ny) % ny)) + which;
    };
    const Index to_other = b == 0 ? -1 : 1;
    const Complex turn = b == 0 ? kTurn : std::conj(kTurn);
    const Complex back = std::conj(turn);
    std::array<HaldaneEntry, 9> row{{{site(0, 0, 1 - b), 1},
                                     {site(to_other, 0, 1 - b), 1},
                                     {site(0, to_other, 1 - b), 1},
                                     {site(1, 0, b), turn},
                                     {site(0, -1, b), turn},
                                     {site(-1, 1, b), turn},
                                     {site(-1, 0, b), back},
                                     {site(0, 1, b), back},
                                     {site(1, -1, b), back}}};
    std::sort(row.begin(), row.end(),
              [](const HaldaneEntry& p, const HaldaneEntry& q) { return p.column < q.column; });
    for (const HaldaneEntry& entry : row) emit(entry.column, entry.value);
  });
}

}  // namespace heddle::gallery
