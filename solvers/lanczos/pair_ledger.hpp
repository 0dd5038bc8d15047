#pragma once

#include <array>
#include <functional>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lanczos/spectral_map.hpp>
#include <span>
#include <utility>
#include <vector>

namespace heddle::detail {

/// Eigenvalues λ, their residual norms ‖A x − λ B x‖/‖x‖, as estimated or measured, and bounds of
/// their errors. `spreads`: E of each bound in terms of F, see `ErrorBounds`, 0 if the bound
/// assumes no gap between eigenvalues of F. What the bounds lack, because they assume gaps that a
/// check has refuted, is in `excesses`. `leasts`: the least bounds of values in clusters of which a
/// basis may not have shown all, see `PairLedger::begin_check`.
struct PairList {
  std::vector<double> values;
  std::vector<double> residuals;
  std::vector<double> errors;
  std::vector<double> spreads{};
  std::vector<double> excesses{};
  std::vector<double> leasts{};

  Index size() const noexcept { return std::ssize(values); }
  std::array<std::vector<double>*, 6> lists() noexcept {
    return {&values, &residuals, &errors, &spreads, &excesses, &leasts};
  }
  void add(double value, double residual, double error, double spread = 0, double excess = 0,
           double least = 0) {
    values.push_back(value);
    residuals.push_back(residual);
    errors.push_back(error);
    spreads.push_back(spread);
    excesses.push_back(excess);
    leasts.push_back(least);
  }
  void clear() noexcept {
    for (std::vector<double>* list : lists()) list->clear();
  }
};

/// The norms to which residuals are relative, exact or estimated.
struct PencilNorms {
  double A = 0;  ///< ‖A‖₁
  double B = 1;  ///< ‖B‖₁, 1 for B = I
  bool known = false;

  /// An estimate of ‖B⁻¹A‖.
  double C() const noexcept { return B > 0 ? A / B : A; }
};

/// The values and residuals of the wanted eigenpairs of a block Lanczos solve. Their vectors are in
/// the `KrylovBasis`. The ledger is in host memory.
///
/// A wanted pair is either locked or active. The vector of a locked pair is kept apart from the
/// basis. An active pair is one of the leading Ritz pairs. The first `leading` active pairs have
/// converged. Once all wanted pairs have converged, they are all locked, and a check begins, in
/// which a random block searches for missed pairs. In a check, the active pairs are the `missed`
/// Ritz pairs whose values lie among those of the locked pairs.
class PairLedger {
 public:
  /// Memory for the pairs of `shape`. `map` and `ritz` are those of the solve, kept by reference.
  PairLedger(const SpectralMap& map, const LanczosValues& ritz, const BlockLanczosShape& shape);

  /// Forgets all pairs, for a new solve. `epsilon`: machine precision of the scalar. `known`: the
  /// number of pairs with λ = 0 that are known before the solve. They are locked from the start.
  void reset(const EigenOptions& options, double epsilon, Index known = 0);

  void set_norms(double norm_A, double norm_B);
  const PencilNorms& norms() const noexcept { return norms_; }
  const EigenConvergence& convergence() const noexcept { return convergence_; }

  /// The current pairs, locked ones first, then active ones in the order of the Ritz values.
  const PairList& wanted() const noexcept { return wanted_; }
  const PairList& locked_pairs() const noexcept { return locked_; }
  Index locked() const noexcept { return locked_.size(); }
  Index leading() const noexcept { return leading_; }
  bool checking() const noexcept { return checking_; }

  /// Wanted pairs that count as converged in the history.
  Index converged() const noexcept;

  /// The value of `wanted()` that lies nearest to the wanted end, and the one farthest from it. The
  /// first one is that of a pair that was not known before the solve, if there is any.
  double first_value() const;
  double last_value() const;

  /// The largest residual of `wanted()`, scaled as in `EigenResult`.
  double worst_residual() const noexcept;

  /// The residuals of the first nev of `wanted()`, scaled likewise. Valid until the next call.
  std::span<const double> scaled_residuals();

  /// Sets the active pairs to the Ritz pairs of the last Rayleigh–Ritz step, with bounds of their
  /// residuals.
  void take_bounds();

  /// Whether the bounds are too large and measuring the residuals is cheap compared with a step of
  /// the basis. `full`: whether the basis has no room for another step.
  bool worth_measuring(bool full) const;

  /// Replaces bounds by measured residuals, and values by Rayleigh quotients unless F is an
  /// inverse, whose θ are more accurate. One number for each of `wanted()`.
  void take_measured(std::span<const double> values, std::span<const double> residuals);

  /// Where the rounding errors of values decide whether wanted pairs have converged, takes those of
  /// all of `wanted()` from `measure` and counts again. A check uses the largest of the rounding
  /// errors measured before.
  void judge_roundings(const std::function<std::span<const double>()>& measure);

  /// Bounds of the eigenvalues other than those of the best pairs. `measured`: the Rayleigh
  /// quotients of these, best first. The Ritz pairs of F bound their errors, too. Valid until the
  /// next call.
  Neighbours neighbours(std::span<const double> measured);

  /// The number of leading Ritz values of a check that lie among those of the locked pairs. It is
  /// limited to as many pairs as half of the basis can hold while they converge. The next check
  /// finds the others.
  Index missed() const noexcept;

  /// Whether two values differ by no more than their residuals may, or by rounding.
  bool same_value(double a, double b) const noexcept;

  /// A bound on ‖A x − λ B x‖/‖x‖ of Ritz pair j.
  double residual_of(Index j) const noexcept;

  /// The best `nev` pairs of `wanted()`: the numbers of locked and of active pairs among them.
  struct Best {
    Index locked;
    Index active;
  };
  Best best() const noexcept;

  /// Locks up to `most` leading pairs with ‖F x − θ x‖ ≤ `rounding`. Returns their number.
  Index lock_exact(Index most, double rounding);

  /// Locks all of `wanted()`, sorts them, drops all but the best `nev` and begins a check. Returns
  /// the former places of the locked pairs, in the new order. Empty if they keep their places.
  /// `roundings`: the rounding errors of values, as far as they have been measured.
  ///
  /// A basis from b random vectors holds b directions of a cluster that it has not resolved, and
  /// their values are those of a random part of it. A value with b or more Ritz values within the
  /// spread of its bound may belong to such a cluster, whose other values a check does not resolve
  /// either. Its least bound is then √(n/b) times the distance of the outermost of these Ritz
  /// values: as many times wider may a cluster of up to n values be.
  std::vector<Index> begin_check(std::span<const double> roundings = {});

  /// Locks exactly those of the measured pairs that have passed. Returns the places of the other
  /// pairs. The check continues only if all pairs have passed. `measured`: the nev pairs.
  std::vector<Index> reopen(const PairList& measured, const std::vector<bool>& passed);

  /// Unlocks all pairs but those known before the solve, and ends the check.
  void unlock();

  /// Makes the criterion ten times stricter, after a refuted claim of convergence.
  void tighten() noexcept { strictness_ *= 0.1; }

  /// Saves or loads what the next Rayleigh–Ritz step does not restore.
  void archive(Archive& archive);

 private:
  void count_leading();

  const SpectralMap& map_;
  const LanczosValues& ritz_;
  Index n_;
  Index nev_;
  Index block_;
  Index max_basis_;
  Criterion criterion_ = Criterion::norm;
  double tolerance_ = 0;
  double epsilon_ = 0;
  EigenConvergence convergence_;
  PencilNorms norms_;
  PairList locked_;
  PairList wanted_;
  ErrorBounds bounds_;                  // of the eigenvalues of F
  PairList beyond_;                     // Ritz pairs next to the wanted ones, before the check
  PairList beside_;                     // those of the last `neighbours`
  std::vector<double> roundings_;       // of `wanted_`, empty if not measured
  bool must_settle_ = false;            // whether `settled` decides in addition to residuals
  double largest_rounding_ = 0;         // of all that were measured
  std::vector<std::size_t> own_order_;  // the places of the best pairs in `wanted_`, best first
  std::vector<double> own_errors_, own_roundings_, own_leasts_;
  std::vector<double> scaled_;
  Index known_ = 0;
  Index leading_ = 0;
  bool checking_ = false;
  double strictness_ = 1;  // a factor on what the criterion allows
};

}  // namespace heddle::detail
