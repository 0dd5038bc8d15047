#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <optional>
#include <span>
#include <vector>

namespace heddle::detail {

/// The numbers of the locked pairs of a LOBPCG solve, in the order of their columns in Y, and the
/// best values that a search has found in addition to them.
class LockedPairs {
 public:
  /// Memory for nev pairs and a block of them, and for what searches find.
  void reserve(Index nev, Index block);

  /// Starts with `zeros` pairs with λ = 0.
  void reset(Which which, Index zeros);

  Index count() const noexcept { return static_cast<Index>(values_.size()); }
  std::span<const double> values() const noexcept { return values_; }
  std::span<const double> residuals() const noexcept { return residuals_; }
  std::span<const double> dual_residuals() const noexcept { return dual_residuals_; }

  void add(std::span<const double> values, std::span<const double> residuals,
           std::span<const double> dual_residuals);

  /// Removes a pair. The last one takes its place.
  void remove(Index pair);

  /// The number of pairs that are better than `value` or differ from it by at most `digits` of it.
  Index ahead(double value, double digits) const;

  /// Whether a pair is among the `count` best.
  bool is_best(Index pair, Index count) const noexcept;

  /// The worst pair. There must be one.
  Index worst() const noexcept;

  /// Notes the ascending Ritz values of a search for missed pairs. The nev + 1 best of these and of
  /// the locked values are upper bounds of as many eigenvalues, seen from the wanted end.
  void note_found(std::span<const double> all, Index nev);

  /// The best value of the last search for which neither X, with values `theta` and ‖r‖ in the norm
  /// of B⁻¹, nor the locked pairs have a pair, if there is one: X was too narrow for it. Gaps end
  /// there. None where it lies beyond all of theirs: the search has not converged, and a gap that
  /// is unknown must not seem to reach up to its value.
  std::optional<double> unseen(std::span<const double> theta, std::span<const double> residuals,
                               const EigenConvergence& convergence) const;

  /// A pair that the values of the last search refute, if there is one. Its vector may be a mixture
  /// with that of a pair which was not known when it was locked, such that the error of its value
  /// is too large.
  std::optional<Index> refuted(std::span<const double> all,
                               const EigenConvergence& convergence) const;

  void archive(Archive& archive);

 private:
  bool better(double a, double b) const noexcept {
    return which_ == Which::smallest ? a < b : a > b;
  }

  Which which_ = Which::smallest;
  std::vector<double> values_;
  std::vector<double> residuals_;       // ‖r‖/‖x‖
  std::vector<double> dual_residuals_;  // ‖r‖ in the norm of B⁻¹
  std::vector<double> seen_;            // see `note_found`, best first
};

}  // namespace heddle::detail
