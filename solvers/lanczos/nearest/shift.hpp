#pragma once

#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/lanczos/nearest/verification.hpp>
#include <string>

namespace heddle::detail {

/// The size of the rounding errors of values near `number`.
double rounding_near(double number, const EigenConvergence& convergence,
                     const NearestOptions& options);

/// The number s at which A − sB is factored, which is `NearestPairs::shift`.
template <Scalar T, class Ctx>
class NearestShift {
 public:
  /// Everything is kept by reference. `all`: the number of all eigenvalues. `convergence`: of
  /// B x = ν A x where A is definite.
  NearestShift(Ctx& context, IndefiniteInverse<T, Ctx>& inverse, const NearestOptions& options,
               Index all, const EigenConvergence& convergence, NearestPairs& pairs,
               Engine<Ctx>& engine) noexcept
      : context_(context),
        inverse_(inverse),
        options_(options),
        all_(all),
        convergence_(convergence),
        pairs_(pairs),
        engine_(engine) {}

  /// Moves a σ far beyond the spectrum, where differences λ − σ have no digits of λ, to the end of
  /// the spectrum, from which the same pairs are the nearest ones. False if σ is a limit beyond
  /// which there are none.
  bool approach();

  /// Chooses s, at σ for a `first_step` of 0, else that far from it or farther. Ends the solve if
  /// there is none.
  bool place(double first_step);

  /// Whether the first θ is so large that rounding spoils other leading pairs, of which `awaited`
  /// are to be there.
  bool is_too_near(const LanczosValues& ritz, Index awaited) const;

  /// The same for pairs of a dense solve that have not passed.
  bool spoils(const LanczosValues& ritz, Index awaited) const;

  /// Whether Ritz values of F are smaller than its rounding errors, so that it is not known on
  /// which side of s their λ lie.
  bool hides(const LanczosValues& ritz) const;

  /// Chooses s farther from the value that it was too near to. Ends the solve if there is none.
  bool move(const LanczosValues& ritz);

  /// Factors A − sB again after a count. Ends the solve if that fails.
  bool factor_again();

  double unit() const;                                   ///< the size of λ next to σ
  Index most_on_side() const noexcept { return most_; }  ///< as far as s counts, with given pairs
  bool moved() const noexcept { return moved_; }         ///< whether s is not σ
  bool far() const noexcept { return far_; }             ///< whether σ has moved to the spectrum

 private:
  double ratio(const LanczosValues& ritz, Index awaited) const;

  Ctx& context_;
  IndefiniteInverse<T, Ctx>& inverse_;
  const NearestOptions& options_;
  Index all_;
  const EigenConvergence& convergence_;
  NearestPairs& pairs_;
  Engine<Ctx>& engine_;
  Index most_ = 0;
  bool moved_ = false;
  bool far_ = false;
  std::string trouble_;
};

}  // namespace heddle::detail
