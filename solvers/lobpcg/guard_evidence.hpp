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

/// The evidence of the guard vectors of a LOBPCG solve for pairs that may be missing among the
/// wanted ones.
///
/// Wanted pairs that were not found from random vectors alone may be eigenpairs and yet not the
/// wanted ones. Their own residuals do not tell, however large the errors of the guesses were: a
/// guess may lose them while a missing pair in its neighbourhood does not grow. A guard vector that
/// has nearly converged beyond the wanted pairs shows that no better pair is missing: if a part of
/// such a pair were left in it, its residual would be at least this part times the distance of the
/// values.
class GuardEvidence {
 public:
  GuardEvidence() = default;
  GuardEvidence(const EigenConvergence& convergence, double tolerance) noexcept
      : convergence_(convergence), tolerance_(tolerance) {}

  /// The number of leading guard vectors that are tested. `guessed`: X began with initial guesses.
  /// Some guard vectors may then be exact guesses of other pairs, so that all are tested.
  static Index tested(const GuardVectors& guards, bool guessed) noexcept;

  /// Whether the guard vectors show that no better pair is missing.
  bool shows_all(const GuardVectors& guards, bool guessed) const;

  /// Whether all guard vectors are converged pairs. They may be guesses themselves, or copies of
  /// the wanted pairs, and show nothing. A solve then has to begin again without guesses.
  bool show_nothing(const GuardVectors& guards) const;

  /// To be called when residuals are rounding and fall no more. If the values of the guard vectors
  /// are the same as in the last call, nothing more is expected of them.
  void note_stagnation(const GuardVectors& guards);

  void archive(Archive& archive) { archive.values(convergence_, tolerance_, done_, sum_); }

 private:
  bool next_is_apart(const GuardVectors& guards, bool guessed) const;
  bool has_converged(const GuardVectors& guards, std::size_t j) const;

  EigenConvergence convergence_;
  double tolerance_ = 0;
  bool done_ = false;  // whether nothing more is expected of them
  double sum_ = std::numeric_limits<double>::quiet_NaN();  // of their values at the last stagnation
};

}  // namespace heddle::detail
