#include <algorithm>
#include <heddle/solvers/rectangular/singular_route.hpp>

namespace heddle::detail {
namespace {

/// Up to this length of the shorter side and this many entries, zeros included, the decomposition
/// on the host takes about half a second. It finds all vectors of singular values near zero, which
/// no iteration can promise.
constexpr Index kSmallOrder = 512;
constexpr double kSmallEntries = 1 << 20;

/// A matrix of up to this many entries, a quarter of a gigabyte, is decomposed where the
/// eigensolver fails, provided that the decomposition takes no longer than this.
constexpr double kMostEntries = 1 << 25;
constexpr double kLongestDecomposition = 120;  // seconds

/// Measured with one thread: 1.5·10¹⁰ to 2·10¹⁰ for 1424×712 to 3000×1500.
constexpr double kOperationsPerSecond = 1e10;

/// Up to this length of the shorter side, V = I costs less than iterations, whatever the length of
/// the longer side.
constexpr Index kDenseOrder = 128;

/// An eigensolver is used only where the shorter side is this many times nev. Its block needs that
/// room.
constexpr Index kRoom = 4;

/// Real products and sums of a complex product and sum.
constexpr double kComplexOperations = 4;

}  // namespace

SingularRoute singular_route(const SingularOptions& options, Index m, Index n) {
  const Index shorter = std::min(m, n);
  const double entries = static_cast<double>(m) * static_cast<double>(n);
  if (shorter <= kSmallOrder && entries <= kSmallEntries) return SingularRoute::decompose;
  return shorter <= kDenseOrder || shorter < kRoom * options.nev ? SingularRoute::dense
                                                                 : SingularRoute::iterate;
}

double DecompositionCost::operations() const noexcept {
  const double real = (25 * shorter + 6 * longer) * shorter * shorter;
  return complex ? kComplexOperations * real : real;
}

double DecompositionCost::seconds() const noexcept { return operations() / kOperationsPerSecond; }

bool DecompositionCost::acceptable() const noexcept {
  return longer * shorter * (complex ? 2 : 1) <= kMostEntries && seconds() <= kLongestDecomposition;
}

}  // namespace heddle::detail
