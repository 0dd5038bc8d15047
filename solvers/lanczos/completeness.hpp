#pragma once

#include <heddle/solvers/lanczos/pair_ledger.hpp>

namespace heddle::detail {

/// Whether the pairs of a `PairLedger` are all that are wanted, or whether others were missed, such
/// as further copies of a multiple eigenvalue. Copies nothing; everything is kept by reference.
class Completeness {
 public:
  /// `block`: b, the columns of a step. `tolerance`: that of the criterion.
  Completeness(const PairLedger& pairs, const SpectralMap& map, const LanczosRitz& ritz,
               Index block, Index nev, double tolerance) noexcept
      : pairs_(pairs), map_(map), ritz_(ritz), block_(block), nev_(nev), tolerance_(tolerance) {}

  /// Whether all wanted pairs have converged and, in a check, all that it has found.
  bool all_converged() const noexcept;

  /// Whether a cycle may end before the basis is full: all wanted pairs have converged and, in a
  /// check that has found none, the next one has come to rest. `full`: whether the basis is.
  bool nothing_is_left(bool full) const;

  /// For a check that has found nothing: whether it would have shown a pair that was missed.
  bool others_would_show(bool full) const;

  /// For a check that has found nothing: whether the leading Ritz pair will not move any more by as
  /// much as would count. Errors of Ritz values are squares of those of their vectors.
  bool next_is_at_rest(bool full) const;

 private:
  const PairLedger& pairs_;
  const SpectralMap& map_;
  const LanczosRitz& ritz_;
  Index block_;
  Index nev_;
  double tolerance_;
};

}  // namespace heddle::detail
