#pragma once

#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <limits>
#include <span>

namespace heddle::detail {

/// The Ritz pairs in X behind the wanted ones, best first.
struct GuardVectors {
  std::span<const double> theta;
  std::span<const double> residuals;       ///< ‖r_j‖/‖x_j‖
  std::span<const double> dual_residuals;  ///< ‖r_j‖ in the norm of B⁻¹, for xᵀBx = 1
  std::span<const double> wanted;          ///< the values of the wanted pairs in X
  std::span<const double> locked;          ///< those of the locked pairs
};

/// What the guard vectors of a LOBPCG solve show of pairs that may be missing among the wanted
/// ones.
///
/// Wanted pairs that were not found from random vectors alone may be exact eigenpairs and yet not
/// the wanted ones. A guard vector that has nearly converged beyond them shows that no better pair
/// is missing: if a part of such a pair were left in it, its residual would be at least this part
/// times the distance of the values.
class GuardEvidence {
 public:
  GuardEvidence() = default;
  GuardEvidence(const EigenConvergence& convergence, double tolerance) noexcept
      : convergence_(convergence), tolerance_(tolerance) {}

  /// Notes in the first step whether a wanted pair was nearly exact. While the residual of a guess
  /// falls, its errors in the direction of a missing pair come to light. An exact one has none.
  void begin(bool exact) noexcept;

  /// The number of leading guard vectors that are tested. `guessed`: X began with initial guesses.
  /// Some guard vectors may then be exact guesses of other pairs, so that all are tested.
  static Index tested(const GuardVectors& guards, bool guessed) noexcept;

  /// Whether the guard vectors show that no better pair is missing.
  bool shows_all(const GuardVectors& guards, bool guessed) const;

  /// Whether all guard vectors are converged pairs and may be guesses themselves, which show
  /// nothing. True at most once per solve: the caller must replace them by random columns.
  bool needs_new_guards(const GuardVectors& guards);

  /// To be called when residuals are rounding and fall no more. If the values of the guard vectors
  /// are the same as in the last call, nothing more is expected of them.
  void note_stagnation(const GuardVectors& guards);

  void archive(Archive& archive) {
    archive.values(convergence_, tolerance_, begun_, began_exact_, renewed_, done_, sum_);
  }

 private:
  bool next_is_apart(const GuardVectors& guards) const;
  bool has_converged(const GuardVectors& guards, std::size_t j) const;

  EigenConvergence convergence_;
  double tolerance_ = 0;
  bool begun_ = false;
  bool began_exact_ = false;
  bool renewed_ = false;  // whether the guard vectors stem from random columns
  bool done_ = false;     // whether nothing more is expected of them
  double sum_ = std::numeric_limits<double>::quiet_NaN();  // of their values at the last stagnation
};

}  // namespace heddle::detail
