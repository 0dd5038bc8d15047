#pragma once

#include <heddle/solvers/lanczos/pair_ledger.hpp>
#include <limits>

namespace heddle::detail {

/// Decides whether the pairs of a `PairLedger` include all wanted pairs, or whether pairs may have
/// been missed, such as further copies of a multiple eigenvalue. Everything is kept by reference.
class Completeness {
 public:
  /// `block`: b, the columns of a step. `asked`: the tolerance of the criterion. `tolerance`: the
  /// largest scaled residual of a Ritz pair from which nothing changes any more, whatever residuals
  /// the criterion allows. `guessed`: the first block of the solve held initial guesses. `known`:
  /// the number of null vectors that were known before the solve. They are the first of the wanted
  /// pairs, and there are no others.
  Completeness(const PairLedger& pairs, const SpectralMap& map, const LanczosValues& ritz,
               Index block, Index nev, double asked, double tolerance, bool guessed,
               Index known) noexcept
      : pairs_(pairs),
        map_(map),
        ritz_(ritz),
        block_(block),
        nev_(nev),
        asked_(asked),
        tolerance_(tolerance),
        guessed_(guessed),
        known_(known) {}

  /// Whether all wanted pairs have converged and, in a check, all pairs that the check has found.
  bool all_converged() const noexcept;

  /// Whether a cycle may end before the basis is full. This is so if all wanted pairs have
  /// converged and, in a check that has found no pair, the Ritz pair next to the wanted ones has
  /// settled. `full`: whether the basis is full.
  bool nothing_is_left(bool full) const;

  /// Whether all wanted pairs have converged, and a check has found no others so far.
  bool none_missed() const noexcept;

  /// The scaled residual of the pairs for which the solve waits: the largest one of the wanted
  /// pairs, or in a check that has found no pair, that of the Ritz pair next to them.
  double awaited_residual() const;

  /// For a check that has found no pair: whether the value next to the wanted ones is the same as
  /// in the last call. Where ‖A‖ is far above the wanted values, its residual seems to be rounding
  /// while the value still moves.
  bool next_is_still();

  /// Notes that the basis begins with vectors that were chosen, not with a random block.
  void note_chosen_block() noexcept { chosen_ = true; }

  /// Saves or loads the state between two calls.
  void archive(Archive& archive) { archive.values(next_value_, chosen_); }

  /// Before a check: whether the first block, which was random, has shown all copies of each wanted
  /// eigenvalue, so that a check could find no others.
  bool first_block_shows_all() const;

  /// For a check that has found no pair: whether it would have found a missed pair.
  bool others_would_show(bool full) const;

  /// At the end of a solve: what shows that no wanted pair is missing. `converged`: whether it has
  /// converged.
  CompletenessMethod method(bool converged, bool full) const;

  /// For a check that has found no pair: whether the remaining changes of the leading Ritz value
  /// are too small to reach the wanted pairs. Errors of Ritz values are proportional to the squares
  /// of the errors of their vectors.
  bool next_is_at_rest(bool full) const;

 private:
  const PairLedger& pairs_;
  const SpectralMap& map_;
  const LanczosValues& ritz_;
  Index block_;
  Index nev_;
  double asked_;
  double tolerance_;
  bool guessed_;
  bool chosen_ = false;  // whether the first block was not random
  Index known_;
  double next_value_ = std::numeric_limits<double>::quiet_NaN();  // of the last `next_is_still`
};

}  // namespace heddle::detail
