#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <limits>
#include <span>
#include <vector>

namespace heddle::detail {

/// Bounds of the errors of eigenvalues, from Ritz values θ_j and the norms ρ_j of their residuals.
///
/// For A x = λ B x, xᵀBx = 1 and r = A x − θ B x, ρ = ‖r‖ in the norm of B⁻¹. Then an eigenvalue
/// lies in [θ − ρ, θ + ρ]. Ritz values whose intervals overlap those of their neighbours form a
/// cluster. The interval of a pair whose place counts (`placed`) also joins values farther away.
/// The errors of the values of a group of clusters are at most
///
///     e_j = min(ρ_j, 2 E² / (gap_j + √(gap_j² + 4 E²))),   E² = Σ ρ² over the group,
///
/// which is about E²/gap_j. This holds for Ritz pairs of one orthonormal basis. Rounding leaves
/// residuals with parts κ_j in the span of the other vectors of the basis. For a group of several
/// pairs, √(Σ κ²) is therefore added (Weyl). So are parts of `set_parts` between pairs of the
/// group. The bound of a single pair, whose value is the Rayleigh quotient of its vector, holds
/// without it. gap_j is the distance of θ_j from the rest of the spectrum, that is from the nearest
/// edges of the intervals next to the group. It is therefore an estimate: it assumes that no
/// eigenvalue is missing among those that the Ritz values stand for. In a cluster, ρ_j only shows
/// that an eigenvalue is near θ_j, not which. On request, √(Σ ρ²) over its pairs replaces ρ_j there
/// (Kahan). The groups are single clusters and, where nothing lies beyond the first pair, all pairs
/// up to the end of a cluster.
///
/// Sources: Parlett, The Symmetric Eigenvalue Problem, SIAM 1998, sections 4.5, 10.1, 11.5, 11.7;
/// Kato, J. Phys. Soc. Japan 4 (1949) 334; Li and Li, Linear Algebra Appl. 395 (2005) 183 (the
/// formula).
class ErrorBounds {
 public:
  /// The distance from the first or last cluster to eigenvalues beyond it.
  static constexpr double kUnknown = 0;
  static constexpr double kNoneBeyond = std::numeric_limits<double>::infinity();

  /// Reserves memory for this number of pairs.
  void reserve(Index pairs);

  /// Removes all pairs.
  void clear() noexcept;

  /// Adds a Ritz value and its ρ, in any order. `joint`: whether its vector belongs to the same
  /// orthonormal basis as those of the other pairs. If not, the pair belongs to no group, and its
  /// interval only shows where the nearest other eigenvalue lies. `coupling`: κ.
  void add(double value, double residual, bool joint = true, double coupling = 0);

  /// Sets the parts of the residuals of the pairs from number `others` on along the vectors of all
  /// earlier pairs, pair by pair. Pairs beyond them have none. `parts` must live until `compute`
  /// returns. Where it is not called, these are parts κ of rounding.
  void set_parts(std::span<const double> parts, Index others) noexcept;

  /// Computes the bounds. `below`, `above`: `kUnknown` or `kNoneBeyond` for the eigenvalues below
  /// the smallest and above the largest of the pairs. `rest`: a lower bound of the largest
  /// eigenvalue for which no pair stands, such as a Rayleigh quotient orthogonal to all pairs. A
  /// gap down to the rest of the spectrum is then at most θ_j − rest. `placed`: for this number of
  /// pairs, the first that were added, the bound is that of the distance from the eigenvalue of the
  /// same place, in a cluster also where no gap is known.
  void compute(double below, double above, double rest = -std::numeric_limits<double>::infinity(),
               Index placed = 0);

  /// e_j of the pair that was added as number j. NaN if its residual is.
  double bound(Index j) const noexcept { return bounds_[static_cast<std::size_t>(j)]; }

  /// E of the group that e_j stems from, ρ_j if it stems from none.
  double spread(Index j) const noexcept { return spreads_[static_cast<std::size_t>(j)]; }

  /// 2 E²/(gap + √(gap² + 4 E²)), the largest change of an eigenvalue by a coupling of norm
  /// `spread` to others at the distance `gap`.
  static double change(double spread, double gap) noexcept;

  Index size() const noexcept { return std::ssize(values_); }

 private:
  void list_edges(Index placed);
  void bound_places(Index first, Index end, Index placed);
  void bound_group(Index first, Index end, double down, double up);
  double parts_within(Index first, Index end) const noexcept;
  double value(Index i) const noexcept { return values_[place(i)]; }  // i-th in ascending order
  double residual(Index i) const noexcept { return residuals_[place(i)]; }
  std::size_t place(Index i) const noexcept {
    return static_cast<std::size_t>(order_[static_cast<std::size_t>(i)]);
  }

  std::vector<double> values_;
  std::vector<double> residuals_;
  std::vector<double> couplings_;
  std::vector<double> bounds_, spreads_;
  std::vector<double> highest_, lowest_;  // edges, see `list_edges`
  std::vector<char> joint_;
  std::span<const double> parts_;  // of `set_parts`
  Index others_ = 0;
  std::vector<Index> order_;  // of ascending values
};

/// Which values may have the first places of a spectrum, from intervals that hold one eigenvalue
/// each. Counted from the smallest value, eigenvalue j lies between the j-th smallest of all lower
/// ends and the j-th smallest of all upper ends.
class PlaceIntervals {
 public:
  void reserve(Index intervals);

  /// Removes all intervals and sets the end of the spectrum from which places are counted.
  void clear(Which end) noexcept;

  /// Adds the interval of a value to those of `widen`, in any order.
  void add(double lower, double upper);

  /// Widens bounds of the errors of the first values so that each holds for the eigenvalue of the
  /// same place. One that is NaN counts as infinite among the others.
  void widen(std::span<const double> values, std::span<double> errors);

 private:
  void sort(std::vector<double>& ends) const;

  Which end_ = Which::smallest;
  std::vector<double> lower_, upper_;
  std::vector<double> sorted_lower_, sorted_upper_;
};

}  // namespace heddle::detail
