#pragma once

#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lanczos/lanczos_operator.hpp>
#include <heddle/solvers/lanczos/lanczos_ritz.hpp>
#include <heddle/solvers/lanczos/pair_ledger.hpp>
#include <limits>
#include <optional>

namespace heddle::detail {

/// Decides what block Lanczos iterates on, and sets F accordingly: C = B⁻¹A itself, a Chebyshev
/// polynomial in C, or (A − σB)⁻¹B.
///
/// A cycle on C tells the far end of the spectrum and an upper bound of the wanted values. From
/// both follow the interval that a polynomial shall damp and its degree. An inverse takes over once
/// the polynomials have cost, or would cost by the end of the next cycle, more products than a
/// factorisation and its solves are worth. Where a limit leaves no room for what is to be done, the
/// solve ends. Source: Zhou & Saad, Numer. Algorithms 47 (2008) 341 (polynomial filters).
template <Scalar T, class Ctx>
class OperatorChoice {
 public:
  /// Everything is kept by reference. `max_basis`: columns of the basis before a restart.
  OperatorChoice(Ctx& context, const EigenProblem<T, Ctx>& problem,
                 const BlockLanczosOptions& options, Index max_basis, LanczosOperator<T, Ctx>& F,
                 const LanczosRitz& ritz, const PairLedger& pairs, Engine<Ctx>& engine);

  /// F = −y, C itself.
  void use_C() noexcept { F_.set_problem(problem_, options_.which); }

  /// Where σ is tried first, and the ‖C‖ in parts of which it is lowered.
  struct Shift {
    double highest;
    double scale;
  };

  /// F = (A − σB)⁻¹B with the first σ that a factorisation proves to lie below the spectrum. Ends
  /// the solve where there is none.
  void invert(const Shift& shift);

  /// Replaces F by a better operator if the Ritz pairs at hand suggest one. Returns the number of
  /// leading Ritz pairs whose vectors the next basis shall begin with; nothing where F stays, be it
  /// because a limit leaves no room for a better one and ended the solve.
  std::optional<Index> improve();

  /// Takes the far end of the spectrum as a cycle on C shows it. Other cycles show nothing of it.
  void note_far_end();

  /// The largest y that may be an eigenvalue, as far as is known.
  double far_end() const noexcept { return far_end_; }

  /// Whether λ = `value` lies above the interval that the polynomial damps, where the polynomial
  /// grows as it does below. The far end is then corrected.
  bool corrects_far_end(double value);

  /// Whether σ lies so near to the smallest eigenvalue that rounding in its θ spoils other pairs.
  bool shift_is_too_near() const;

  /// A σ that lies lower: at `retreat` times its present distance from the smallest eigenvalue at
  /// least.
  Shift lower_shift(double retreat) const;

  /// Whether a factorisation fits into the time that is left. If not, the solve ends.
  bool time_to_factor();

  /// Whether a cycle under a polynomial of this degree would need more products than there may be.
  /// Then the solve ends.
  bool too_many_applications(int degree);

  Index applications() const;          ///< columns multiplied by A since the solve began
  Index inverse_applications() const;  ///< columns solved with A − σB likewise

  /// Saves or loads what is known and what F is.
  void archive(Archive& archive);

 private:
  Index last_undamped() const;
  std::optional<ChebyshevFilter> filter_for(double wanted, double lower, double upper) const;
  double applications_after_cycle(int degree) const;
  bool inverse_pays(int degree);
  double farthest_located() const;
  double upper_end() const;
  Index inverse_columns() const;

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  Index max_basis_;
  LanczosOperator<T, Ctx>& F_;
  const SpectralMap& map_;  // that of F
  const LanczosRitz& ritz_;
  const PairLedger& pairs_;
  Engine<Ctx>& engine_;
  Index applications_before_;
  Index inverse_applications_before_;
  double far_end_ = -std::numeric_limits<double>::infinity();
};

}  // namespace heddle::detail
