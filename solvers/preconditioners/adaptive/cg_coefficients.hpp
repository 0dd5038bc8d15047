#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <vector>

namespace heddle::detail {

/// Lower bounds of the condition number of M⁻¹A from steps of CG. Infinite: A or M is not positive
/// definite, or not finite.
struct ConditionEstimate {
  double half = 1;   ///< after half of the steps
  double whole = 1;  ///< after all of them

  /// The square root of the condition number. A bound that still grows like the number of steps is
  /// far too small, and counts as 1.5 times as large.
  double expected_root() const noexcept;
};

/// The coefficients of consecutive steps of CG with one column, x ← x + α p and p ← z + β p. They
/// determine a tridiagonal matrix, whose eigenvalues are Ritz values of M⁻¹A. Source: Golub and Van
/// Loan, Matrix Computations, 2013, section 11.3.5.
class CgCoefficients {
 public:
  void add_alpha(double alpha) { alpha_.push_back(alpha); }
  void add_beta(double beta) { beta_.push_back(beta); }

  Index steps() const noexcept { return static_cast<Index>(alpha_.size()); }

  /// All coefficients must be positive; the last β is not needed. Infinite without a step.
  ConditionEstimate estimate() const;

  void clear() noexcept {
    alpha_.clear();
    beta_.clear();
  }

  void archive(Archive& archive) {
    archive.list(alpha_);
    archive.list(beta_);
  }

 private:
  double condition(Index m) const;

  std::vector<double> alpha_, beta_;
};

}  // namespace heddle::detail
