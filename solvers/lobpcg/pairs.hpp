#pragma once

#include <algorithm>
#include <cstddef>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/lobpcg/guard_evidence.hpp>
#include <heddle/solvers/lobpcg/locked_pairs.hpp>
#include <heddle/solvers/lobpcg/ritz_values.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <span>
#include <vector>

namespace heddle::detail {

/// The most columns of an X that begins with vectors of coarse levels. The first step reduces it to
/// the best `block` ones. S has room for X and as many search directions.
constexpr Index widest_start(Index block) noexcept {
  return std::max(block, 3 * block / 2 / 4 * 4);
}

/// The columns of X that get no search directions, of which `leading` have converged: these but for
/// a remainder, so that they and, if X has whole units of `unit` columns, the others fill units.
inline Index resting_columns(Index leading, Index columns, Index unit) noexcept {
  return leading == columns ? leading : leading - leading % unit;
}

/// The conditions for a pair: the criterion times `factor`, and whether the error of its value may
/// be as large as rounding although the residual is not.
struct PairLimits {
  double factor = 1;
  bool rounding = true;
};

/// The bookkeeping of the pairs of a LOBPCG solve, without their vectors: which pairs are locked,
/// and which of the pairs in X are wanted, have converged or may be locked.
///
/// X holds the best Ritz pairs other than the locked ones, best first. Its `leading` first pairs
/// pass the criterion. Its `wanted_in_X` first pairs are among the nev best of all.
class LobpcgPairs {
 public:
  LobpcgPairs() = default;

  /// Memory for X of up to `block` columns, in the first step up to `widest_start`.
  LobpcgPairs(Index nev, Index block);

  /// Starts a solve: nothing is locked but `zeros` pairs with λ = 0, which are known before it.
  /// `options` must outlive the solve.
  void reset(const EigenOptions& options, Index zeros = 0);

  const EigenConvergence& convergence() const noexcept { return convergence_; }
  void set_convergence(const EigenConvergence& convergence) {
    convergence_ = convergence;
    evidence_ = {convergence, options_->tolerance};
  }

  Index locked() const noexcept { return locked_.count(); }
  LockedPairs& locked_pairs() noexcept { return locked_; }
  Index leading() const noexcept { return leading_; }
  Index wanted_in_X() const noexcept { return wanted_in_X_; }

  /// Whether pairs that are better than the nev best of those known may lie beyond X: all of X is
  /// wanted, and the last of the nev best is none of X, or not known yet. X is then locked as a
  /// whole, and further pairs are iterated.
  bool more_to_come() const noexcept { return more_to_come_; }

  /// Counts all `columns` columns of X as leading, because none of them has search directions yet.
  void set_leading(Index columns) noexcept { leading_ = resting_ = columns; }

  /// Notes that the columns of X have changed their places. The residuals of the last step are then
  /// not comparable with those of the next.
  void forget_order() noexcept { comparable_steps_ = 0; }

  /// Memory for the numbers of this step. The residuals of the last step are kept.
  struct Numbers {
    std::span<double> residuals;       ///< ‖r_j‖/‖x_j‖
    std::span<double> dual_residuals;  ///< ‖r_j‖ in the norm of B⁻¹, for xᵀBx = 1
    std::span<double> roundings;  ///< rounding errors of the values, set to 0 by `bound_errors`
  };
  Numbers next_numbers();

  /// ‖r_j‖ in the norm of B⁻¹ of the columns of X, as known last: bounds of the errors of their
  /// values.
  std::span<const double> errors() const noexcept { return dual_residuals_; }

  /// Bounds the errors of the values from the residuals. Sets their rounding errors to 0. `exact`
  /// as in `count`. Returns whether the rounding error of a value decides whether its pair has
  /// converged.
  bool bound_errors(const RitzValues& ritz, bool exact);

  /// Sets `leading` and `wanted_in_X` from the residuals. `exact`: X and the locked pairs span the
  /// whole space. Changes of the Ritz values are then ignored.
  void count(const RitzValues& ritz, bool exact, Index iteration);

  /// Whether this step may end the solve or lock pairs if residuals fall as fast as in the last
  /// step. If not, the step may be queued before its residuals are known.
  bool decision_due(const RitzValues& ritz, Index iteration) const;

  /// Whether all wanted pairs pass the criterion and no pair can have been missed. `guessed`: X
  /// began with initial guesses.
  bool all_converged(const RitzValues& ritz, bool guessed) const;

  /// The number of guard vectors for which `all_converged` waits although all wanted pairs pass.
  Index awaited_guards(const RitzValues& ritz, bool guessed) const;

  GuardVectors guards(const RitzValues& ritz) const;
  GuardEvidence& evidence() noexcept { return evidence_; }

  /// The number of leading pairs of X that get no search directions: those that pass without the
  /// excuse of rounding, see `PairLimits`, and without the guard vectors for which `all_converged`
  /// waits.
  Index at_rest(const RitzValues& ritz, bool guessed) const;

  /// The number of leading pairs of X that are to be locked now.
  Index lockable(const RitzValues& ritz, bool guessed, bool exact, Index iteration) const;

  /// Moves the first k pairs of X to the locked ones.
  void lock(const RitzValues& ritz, Index k, Index iteration);

  /// Halves what the criterion allows, after a claim of convergence that was refuted.
  void tighten() noexcept { strictness_ *= 0.5; }

  /// Wanted pairs that have converged, as the history counts them.
  Index converged() const noexcept;

  /// The largest scaled residual of the wanted pairs in X and the first `guards` guard vectors, NaN
  /// if one is.
  double worst_residual(const RitzValues& ritz, Index guards = 0) const;

  /// The smallest scaled residual of X from column `first` on, as known last. Infinity without one,
  /// NaN if one is.
  double least_residual(const RitzValues& ritz, Index first) const;

  /// Values and scaled residuals of the locked pairs and of the wanted ones in X.
  void list(const RitzValues& ritz, std::vector<double>& values,
            std::vector<double>& residuals) const;

  /// Lists the Ritz values that are not among the best `from_Y` locked pairs and the first `from_X`
  /// of X, and ‖r‖ of each in the norm of B⁻¹.
  void list_others(const RitzValues& ritz, Index from_Y, Index from_X, std::vector<double>& values,
                   std::vector<double>& residuals) const;

  void archive(Archive& archive);

 private:
  bool passes(const RitzValues& ritz, Index j, const PairLimits& limits, bool exact) const;

  const EigenOptions* options_ = nullptr;
  Index block_ = 0;
  EigenConvergence convergence_;
  std::vector<double> residuals_;         // ‖r_j‖/‖x_j‖ of X
  std::vector<double> residuals_before_;  // one step earlier
  std::vector<double> dual_residuals_;    // ‖r_j‖ of X in the norm of B⁻¹
  std::vector<double> value_bounds_;      // error bounds of the values of X
  std::vector<double> roundings_;         // rounding errors of the values of X, 0 if not measured
  ErrorBounds bounds_;                    // of the values of X and of the locked ones
  LockedPairs locked_;
  Index leading_ = 0;
  Index resting_ = 0;  // leading pairs that need no search directions, see `at_rest`
  Index wanted_in_X_ = 0;
  bool more_to_come_ = false;
  Index waiting_since_ = 0;     // iteration since which nothing but guard vectors is awaited
  bool waited_ = false;         // whether they were awaited long enough
  Index comparable_steps_ = 0;  // since the columns of X last changed their places
  Index last_lock_ = 0;         // iteration
  double strictness_ = 1;       // factor on what the criterion allows
  GuardEvidence evidence_;
};

/// The number of columns of the next X, for the pairs that are still wanted and guard vectors.
/// `block`: the most.
Index block_wanted(const LobpcgPairs& pairs, Index nev, Index block) noexcept;

}  // namespace heddle::detail
