#pragma once

#include <cmath>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lanczos/lanczos_operator.hpp>
#include <heddle/solvers/lanczos/pair_ledger.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::detail {

/// Whether a solve that costs more than a dense one is given up for this. A caller that limits the
/// products has another method to use instead.
inline bool dense_solve_may_follow(const BlockLanczosOptions& options, Index n,
                                   std::size_t scalar_size) noexcept {
  return !std::isfinite(options.max_applications) &&
         dense_solve_may_follow(n, options.dense_bytes, scalar_size);
}

/// Ritz values of an inverse up to this share of the largest one are 0 to rounding. They belong to
/// infinite eigenvalues of a pencil with a singular B.
template <Scalar T>
inline constexpr double kInfiniteValue =
    100 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

inline constexpr std::string_view kTooFewFiniteValues =
    "nev exceeds the number of finite eigenvalues: the others are infinite, because B is singular";

/// Chooses the operator F that block Lanczos iterates on: C = B⁻¹A itself, a Chebyshev polynomial
/// in C, or (A − σB)⁻¹B.
///
/// A cycle on C gives an estimate of the far end of the spectrum and upper bounds of the wanted
/// values of y. They determine the interval that a polynomial damps and its degree. The inverse
/// replaces the polynomials once these cost, by the end of the next cycle, more products than a
/// factorisation and its solves. If a limit of time or products does not allow the next cycle or
/// factorisation, the solve ends. Source: Zhou & Saad, Numer. Algorithms 47 (2008) 341 (polynomial
/// filters).
template <Scalar T, class Ctx>
class OperatorChoice {
 public:
  /// Everything is kept by reference. `max_basis`: columns of the basis before a restart.
  OperatorChoice(Ctx& context, const EigenProblem<T, Ctx>& problem,
                 const BlockLanczosOptions& options, Index max_basis, LanczosOperator<T, Ctx>& F,
                 const LanczosValues& ritz, const PairLedger& pairs, Engine<Ctx>& engine);

  /// F = −y, C itself.
  void use_C() noexcept { F_.set_problem(problem_, options_.which); }

  /// The first σ to try, and the ‖C‖ in units of which σ is lowered.
  struct Shift {
    double highest;
    double scale;
  };

  /// F = (A − σB)⁻¹B with the first σ that a factorisation proves to lie below the spectrum. Ends
  /// the solve if there is none.
  void invert(const Shift& shift);

  /// Whether the solve may change to the inverse, whose factor fits into memory, and has not done
  /// so. Orders the rows if that was not done before.
  bool may_invert();

  /// σ at 0, or below `first`, the smallest Ritz value, if that is negative. `upper`: the far end
  /// of the spectrum.
  Shift shift_below(double first, double upper) const;

  /// Lowers σ if rounding errors of the pair with the θ `first` spoil that with the θ `last`. True
  /// if it did so.
  bool separate(double first, double last);

  /// Whether the last wanted Ritz pair of an inverse has θ = 0 to rounding, which is an infinite λ.
  bool wants_infinite_values() const;

  /// Replaces F by a better operator if the current Ritz pairs determine one. Returns the number of
  /// leading Ritz pairs from whose vectors the next basis starts. Returns nothing if F is kept,
  /// also if the solve was ended because a limit does not allow a better operator.
  std::optional<Index> improve();

  /// Updates the estimate of the far end of the spectrum after a cycle on C. Does nothing after
  /// other cycles.
  void note_far_end();

  /// The estimate of the largest eigenvalue y.
  double far_end() const noexcept { return far_end_; }

  /// Whether λ = `value` lies above the interval that the polynomial damps, where its absolute
  /// value grows as it does below the interval. If so, corrects the estimate of the far end.
  bool corrects_far_end(double value);

  /// Whether σ is so near to the smallest eigenvalue that rounding errors of its large θ spoil
  /// other pairs.
  bool shift_is_too_near() const;

  /// A lower σ, whose distance from the smallest eigenvalue is at least `retreat` times the present
  /// one.
  Shift lower_shift(double retreat) const;

  /// Whether a factorisation fits into the remaining time. If not, ends the solve.
  bool time_to_factor();

  /// Whether a cycle under a polynomial of this degree would exceed `max_applications`, or the
  /// solve costs more than a dense one. If so, ends the solve.
  bool too_many_applications(int degree);

  /// Whether the solve was ended because a dense solve costs less.
  bool dense_pays() const noexcept { return dense_pays_; }

  Index applications() const;          ///< columns multiplied by A since the solve began
  Index inverse_applications() const;  ///< columns solved with A − σB since the solve began

  /// Saves or loads the estimates and the choice of F.
  void archive(Archive& archive);

 private:
  Index last_undamped() const;
  double farthest_from_converged() const;
  double cycles_left() const;
  std::optional<ChebyshevFilter> filter_for(double wanted, double lower, double upper) const;
  double applications_after(double cycles, int degree) const;
  bool inverse_pays(int degree, double cycles);
  bool raise_shift_to_wanted();
  double farthest_located() const;
  double upper_end() const;
  void raise_shift(const Shift& shift, double failed, double good);
  Index inverse_columns() const;

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  Index max_basis_;
  double dense_cost_;  // of a dense solve, in columns multiplied by A
  bool dense_pays_ = false;
  LanczosOperator<T, Ctx>& F_;
  const SpectralMap& map_;  // the map of F
  const LanczosValues& ritz_;
  const PairLedger& pairs_;
  Engine<Ctx>& engine_;
  Index applications_before_;
  Index inverse_applications_before_;
  double far_end_ = -std::numeric_limits<double>::infinity();
  std::string no_shift_;  // the reason for ending without a σ
};

}  // namespace heddle::detail
