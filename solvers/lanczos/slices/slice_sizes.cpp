#include <algorithm>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/lanczos/slices/slice_sizes.hpp>

namespace heddle::detail {
namespace {

/// Operations of a factorisation, in units of entries² / n: the sum of the squares of column
/// lengths, which differ much in a nested dissection.
constexpr double kPerFactor = 4;

/// The time of an operation with L in a solve, which reads L for a few columns only, relative to
/// one of a dense product.
constexpr double kSolveCost = 3;

/// Columns of the basis at which the pairs of a slice converge: so many per pair, and some more.
constexpr double kColumnsPerPair = 1.7;
constexpr double kMoreColumns = 30;

constexpr Index kLeastPairs = 16;
constexpr Index kMostPairs = 384;

}  // namespace

double slice_operations(Index n, double entries, Index block, Index pairs) noexcept {
  const auto rows = static_cast<double>(n);
  const auto p = static_cast<double>(pairs);
  const double columns = kColumnsPerPair * p + kMoreColumns + static_cast<double>(block);
  const double factors = 2 * kPerFactor * entries * entries / std::max(rows, 1.0);
  const double solves = (columns + p) * 4 * entries * kSolveCost;
  const double orthogonalisation = 4 * rows * columns * columns;
  const double verification = 8 * rows * p * p;
  return factors + solves + orthogonalisation + verification +
         kPerEigenproblem * columns * columns * columns;
}

Index pairs_per_slice(Index n, double entries, Index block) noexcept {
  Index best = kLeastPairs;
  const auto per_pair = [&](Index pairs) {
    return slice_operations(n, entries, block, pairs) / static_cast<double>(pairs);
  };
  for (Index pairs = kLeastPairs; pairs <= kMostPairs; pairs += kLeastPairs) {
    if (per_pair(pairs) < per_pair(best)) best = pairs;
  }
  return best;
}

}  // namespace heddle::detail
