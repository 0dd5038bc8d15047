#pragma once

#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lanczos/lanczos_ritz.hpp>
#include <heddle/solvers/lanczos/spectral_map.hpp>
#include <span>
#include <vector>

namespace heddle::detail {

/// Eigenvalues λ and their residual norms ‖A x − λ B x‖/‖x‖, as estimated or measured.
struct PairList {
  std::vector<double> values;
  std::vector<double> residuals;

  Index size() const noexcept { return std::ssize(values); }
  void add(double value, double residual) {
    values.push_back(value);
    residuals.push_back(residual);
  }
  void clear() noexcept {
    values.clear();
    residuals.clear();
  }
};

/// The norms that residuals are measured against, exact or estimated.
struct PencilNorms {
  double A = 0;  ///< ‖A‖₁
  double B = 1;  ///< ‖B‖₁, 1 for B = I
  bool known = false;

  /// About ‖B⁻¹A‖.
  double C() const noexcept { return B > 0 ? A / B : A; }
};

/// The wanted eigenpairs of a block Lanczos solve and how far each of them is, in numbers only: the
/// vectors are in the `KrylovBasis`. Everything here is host memory.
///
/// A wanted pair is either locked, its vector beside the basis, or active, one of the leading Ritz
/// pairs. `leading` active pairs, counted from the first without a gap, have converged. Once all
/// wanted pairs have, they are all locked and a check begins: a random block looks for pairs that
/// were missed. In a check the active pairs are those among the Ritz pairs that lie within the
/// locked ones, `missed` in number.
class PairLedger {
 public:
  /// Room for the pairs of `shape`. `map` and `ritz` are those of the solve, kept by reference.
  PairLedger(const SpectralMap& map, const LanczosRitz& ritz, const BlockLanczosShape& shape);

  /// Forgets all pairs, for a new solve. `epsilon`: machine precision of the scalar.
  void reset(const EigenOptions& options, double epsilon);

  void set_norms(double norm_A, double norm_B);
  const PencilNorms& norms() const noexcept { return norms_; }
  const EigenConvergence& convergence() const noexcept { return convergence_; }

  /// The pairs at hand, locked ones first, then active ones in the order of the Ritz values.
  const PairList& wanted() const noexcept { return wanted_; }
  const PairList& locked_pairs() const noexcept { return locked_; }
  Index locked() const noexcept { return locked_.size(); }
  Index leading() const noexcept { return leading_; }
  bool checking() const noexcept { return checking_; }

  /// Wanted pairs that count as converged in the history.
  Index converged() const noexcept;

  /// The value of `wanted()` that lies nearest to the wanted end, and the one farthest from it.
  double first_value() const;
  double last_value() const;

  /// The largest residual of `wanted()`, scaled as in `EigenResult`.
  double worst_residual() const noexcept;

  /// The residuals of the first nev of `wanted()`, scaled likewise. Valid until the next call.
  std::span<const double> scaled_residuals();

  /// Takes the Ritz pairs of the last Rayleigh–Ritz step, with bounds for residuals.
  void take_bounds();

  /// Whether the bounds are too large and to measure residuals is cheap beside a step of the basis.
  /// `full`: whether the basis has no room for another step.
  bool worth_measuring(bool full) const;

  /// Replaces bounds by measured residuals, and values by Rayleigh quotients unless F is an
  /// inverse, whose θ are more accurate. One number for each of `wanted()`.
  void take_measured(std::span<const double> values, std::span<const double> residuals);

  /// How many leading Ritz values of a check lie among those of the locked pairs. It counts as many
  /// as half of the basis can hold while they converge; the next check finds the others.
  Index missed() const noexcept;

  /// Whether two values differ by no more than their residuals may, or by rounding.
  bool same_value(double a, double b) const noexcept;

  /// A bound on ‖A x − λ B x‖/‖x‖ of Ritz pair j.
  double residual_of(Index j) const noexcept;

  /// The best `nev` pairs of `wanted()`: this many locked ones and this many active ones.
  struct Best {
    Index locked;
    Index active;
  };
  Best best() const noexcept;

  /// Locks up to `most` leading pairs with ‖F x − θ x‖ ≤ `rounding`: how many.
  Index lock_exact(Index most, double rounding);

  /// Locks all of `wanted()`, and a check begins.
  void begin_check();

  /// Sorts the locked pairs and drops all but the best `nev`: their former places, in the new
  /// order. Empty where nothing changes.
  std::vector<Index> sort_locked();

  /// Locks those of the measured pairs that pass the criterion and no others: the places of the
  /// refuted ones. The check goes on only where none is refuted.
  std::vector<Index> reopen(std::span<const double> values, std::span<const double> residuals);

  /// Unlocks all pairs and ends the check.
  void unlock() noexcept;

  /// Asks for residuals ten times smaller: the last claim of convergence did not hold.
  void tighten() noexcept { strictness_ *= 0.1; }

  /// Saves or loads what the next Rayleigh–Ritz step does not restore.
  void archive(Archive& archive);

 private:
  bool settled(Index j) const noexcept;

  const SpectralMap& map_;
  const LanczosRitz& ritz_;
  Index nev_;
  Index max_basis_;
  Criterion criterion_ = Criterion::norm;
  double tolerance_ = 0;
  double epsilon_ = 0;
  EigenConvergence convergence_;
  PencilNorms norms_;
  PairList locked_;
  PairList wanted_;
  std::vector<double> scaled_;
  Index leading_ = 0;
  bool checking_ = false;
  double strictness_ = 1;  // a factor on what the criterion allows
};

}  // namespace heddle::detail
