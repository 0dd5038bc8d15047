#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <optional>
#include <span>
#include <vector>

namespace heddle::detail {

/// The numbers of the locked pairs of a LOBPCG solve, in the order of their columns in Y.
class LockedPairs {
 public:
  void reserve(Index count);

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

  /// A pair with one of `values` within its residual, if there is one. Its vector may be a mixture
  /// with that of a pair that was not known when it was locked.
  std::optional<Index> overlapped(std::span<const double> values) const;

  void archive(Archive& archive);

 private:
  bool better(double a, double b) const noexcept {
    return which_ == Which::smallest ? a < b : a > b;
  }

  Which which_ = Which::smallest;
  std::vector<double> values_;
  std::vector<double> residuals_;       // ‖r‖/‖x‖
  std::vector<double> dual_residuals_;  // ‖r‖ in the norm of B⁻¹
};

}  // namespace heddle::detail
