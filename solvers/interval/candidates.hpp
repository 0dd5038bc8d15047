#pragma once

#include <heddle/solvers/krylov/lanczos_ritz.hpp>

namespace heddle::detail {

/// Information of the Ritz values θ of F about the eigenvalues of A in the interval, where F is at
/// least `level`.
///
/// Candidates are the Ritz pairs with θ ≥ 0.99 level. They stand for the eigenvalues in the
/// interval and for some outside it. A random block starts a round: a search for candidates, or a
/// check that there are no more. A check is faster, because leading Ritz vectors below the
/// candidates are locked, too, although they are no exact eigenvectors. A missed eigenvector may
/// therefore come out less exact and with a smaller θ, so those with θ ≥ 0.95 level are counted.
///
/// In a round without candidates, the growth shows whether a missed eigenvector would have become
/// one: relative to eigenvectors of F with θ in [θ_last, θ_first], k steps magnify one with
/// θ ≥ level by
///
///     T_{k−1}(1 + 2γ),   γ = (level − θ_first)/(θ_first − θ_last).
///
/// Its share of a random block is about 1/√n. Source: Saad, SIAM J. Numer. Anal. 17 (1980) 687.
class Candidates {
 public:
  /// Forgets the last round. Another starts.
  void begin_search() noexcept { *this = {}; }
  void begin_check() noexcept;

  /// Whether this is a check and not a search.
  bool checking() const noexcept { return checking_; }

  /// Takes the Ritz values of a basis of `steps` blocks, without the columns that a restart kept.
  void take(const LanczosValues& ritz, double level, Index steps);

  /// A restart follows. The growth so far is kept.
  void restart() noexcept { before_ += growth_; }

  /// The candidates, which are leading Ritz pairs.
  Index count() const noexcept { return count_; }

  /// The candidates and further leading Ritz pairs that a check may lock: those with
  /// ‖F x − θ x‖ ≤ 0.02 (level − θ), which contain little of any eigenvector with values from
  /// `level`.
  Index lockable() const noexcept { return lockable_; }

  /// Whether ‖F x − θ x‖ ≤ 10⁻³ level for all candidates.
  bool converged() const noexcept { return residual_ <= kResolved; }

  /// Whether no other Ritz pair can become a candidate, as θ + ‖F x − θ x‖ < level for each.
  bool others_rest() const noexcept { return others_rest_; }

  /// Whether a Ritz value is far beyond those of F on the spectrum, which are from about 0 to 1.
  /// Eigenvalues of A then lie beyond the ends for which F was chosen.
  bool beyond_spectrum() const noexcept { return beyond_spectrum_; }

  /// Whether there are no candidates and a missed one would be there.
  bool none_missed(Index n) const noexcept;

 private:
  static constexpr double kResolved = 1e-3;

  bool checking_ = false;
  Index count_ = 0;
  Index lockable_ = 0;
  double residual_ = 0;  // the largest of candidates, relative to the level
  bool others_rest_ = false;
  bool beyond_spectrum_ = false;
  double growth_ = 0;  // logarithm of the magnification since the last restart
  double before_ = 0;  // and before
};

}  // namespace heddle::detail
