#pragma once

#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>
#include <span>
#include <string_view>

namespace heddle::detail {

/// Verifies the pairs of a LOBPCG solve with fresh products and writes them to its result.
template <Scalar T, class Ctx>
class LobpcgVerification {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename LobpcgWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference and must outlive the verification.
  LobpcgVerification(Ctx& context, const EigenProblem<T, Ctx>& problem, const EigenOptions& options,
                     Storage& storage)
      : context_(context), problem_(problem), options_(options), s_(storage) {}

  /// Writes the Ritz pairs over the span of the best nev pairs, their residuals and the error
  /// bounds of their values to the result, and judges them by `convergence`. Overwrites
  /// A S and B S.
  Verdict verify(const EigenConvergence& convergence);

  /// How a solve ends that no step improves any more: converged if the errors of all values are as
  /// small as rounding allows, else stagnated for `reason`.
  StopControl::Stop stop_at_rounding(std::string_view reason);

  /// Whether nothing but the errors of values has kept the last `verify` from confirming X as it
  /// is.
  bool lacks_digits() const noexcept { return current_ && verdict_.residuals && !verdict_.values; }

  /// The result of the last `verify`.
  const Verdict& verdict() const noexcept { return verdict_; }

  /// Whether the result holds what the last `verify` measured, and X has not changed since.
  bool is_current() const noexcept { return current_; }
  void set_outdated() noexcept { current_ = false; }

 private:
  bool rotate_pairs(Block V);
  Neighbours neighbours(Index from_Y, Index from_X);
  std::span<const double> couplings(Block V, Index from_X);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const EigenOptions& options_;
  Storage& s_;
  Verdict verdict_;
  bool current_ = false;
};

}  // namespace heddle::detail
