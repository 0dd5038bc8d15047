#pragma once

#include <cmath>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace heddle::detail {

/// The number σ with the limits between which eigenvalues near it are wanted.
struct Target {
  double sigma = 0;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double noise = 0;      ///< values beyond a limit by less than this are wanted, too
  double rounding = 0;   ///< distances that differ by less than this are the same
  double tolerance = 0;  ///< so are those of values that differ by this part of them

  bool counted = false;    ///< whether the numbers of eigenvalues below the limits are known
  bool free_at_0 = false;  ///< whether no eigenvalue is 0, so that a limit there needs no gap
  double finite = std::numeric_limits<double>::infinity();  ///< larger |λ| count as infinite

  /// Whether λ is finite and lies between the limits.
  bool has(double lambda) const noexcept {
    return lower - noise <= lambda && lambda <= upper + noise && is_finite(lambda);
  }
  bool is_finite(double lambda) const noexcept { return std::abs(lambda) <= finite; }
  double distance(double lambda) const noexcept { return std::abs(lambda - sigma); }
};

/// An open interval whose eigenvalues are counted, between gaps of the spectrum.
struct CountedInterval {
  double lower = 0;
  double upper = 0;

  bool has(double lambda) const noexcept { return lower < lambda && lambda < upper; }
};

/// The places of the `values` between the limits, the nearest to σ first.
std::vector<std::size_t> nearest_places(const Target& target, std::span<const double> values);

/// The interval whose count proves that `found` has all wanted values.
///
/// `found`: the wanted values, nearest first. `others`: further Ritz values, which need not be
/// exact. With a gap beyond the last wanted value, the interval ends in it. Else, as between copies
/// of one eigenvalue, it ends before the last value, as near to it as the tolerance allows: values
/// beyond the end are as good as the last one. It ends at limits that are nearer and counted or no
/// eigenvalues, and in the gaps beyond limits that are not. `part` in (0, 1): the place of an end
/// within its gap. `wider`: how many times farther before copies it may lie, because no factor is
/// certain so near to them: up to the tolerance of their distance from σ, or, where the limits are
/// counted, at any distance. Nothing if all of `found` lie on σ, so that no value can be nearer.
std::optional<CountedInterval> interval_to_count(const Target& target,
                                                 std::span<const double> found,
                                                 std::span<const double> others, double part,
                                                 double wider = 1);

}  // namespace heddle::detail
