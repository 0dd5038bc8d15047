#pragma once

#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/lanczos/completeness.hpp>
#include <heddle/solvers/lanczos/operator_choice.hpp>
#include <heddle/solvers/lanczos/verification.hpp>
#include <heddle/solvers/lanczos/workspace.hpp>

namespace heddle::detail {

/// The actions that may follow a cycle.
enum class AfterCycle {
  thick_restart,  ///< with the same operator F, or with a better one
  start_again,    ///< new start on C, because an eigenvalue lies above the polynomial's interval
  lower_shift,  ///< new start with a lower σ, because σ is so near to an eigenvalue that rounding
                ///< spoils other pairs
  retreat,  ///< new start with a much lower σ, because fresh products refuted pairs of (A − σB)⁻¹B
  invert,       ///< new start with the inverse, because only it reaches the digits of the values
  begin_check,  ///< all wanted pairs have converged, and a random block searches for missed pairs
  reopen,       ///< fresh products refuted some pairs, and the iteration continues from these
};

/// What is to follow a solve that has ended without the wanted pairs.
enum class NextSolve {
  none,
  dense,         ///< a dense solve, which costs less
  larger_basis,  ///< one with a larger basis, because residuals have stopped falling
};

/// One block Lanczos solve over the memory of a workspace, with its loop and its steps.
/// `OperatorChoice` chooses the operator F that is iterated on. `PairLedger` holds the values and
/// residuals of the pairs. `Completeness` decides whether pairs may have been missed.
/// `Verification` measures the pairs with fresh products.
template <Scalar T, class Ctx>
class BlockLanczosSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference and must outlive the solve.
  BlockLanczosSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const BlockLanczosOptions& options, const Monitor& monitor, Storage& storage);

  /// Iterates until the pairs have converged and are verified, or until another reason ends the
  /// solve. Then the result is in the storage.
  NextSolve run();

  // The hooks of the engine, see `ResumableSolve`. An iteration is a cycle.
  IterationRecord record() const;
  MonitorState shown(const IterationRecord& record);
  std::optional<StopControl::Stop> trouble() const { return std::nullopt; }
  Claim claim();
  std::string refutation() const { return verification_.refutation(); }
  bool at_rounding();
  bool stagnated();
  void archive(Archive& archive);
  template <class Visit>
  void for_each_block(const Visit& visit) {
    basis_.for_each(visit);
  }

 private:
  // The steps of the loop, in its order.
  bool start();
  void multiply(bool resumed);
  bool cycle_ends();
  void rayleigh_ritz();
  bool finished();
  void restart();
  void finish();

  bool solve_ritz();
  void set_norms();
  bool beyond_interval();
  bool verify(const EigenConvergence& convergence);
  bool inverse_has_more_digits();
  void accept_rounding();
  void end_if_lost(const FrontStatus& status);

  // The actions that may follow a cycle, see `AfterCycle`.
  void thick_restart();
  void start_again(bool keeps_F);
  void invert(const typename OperatorChoice<T, Ctx>::Shift& shift);
  void begin_check();
  void reopen();

  void solve_dense();

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  Storage& s_;
  KrylovBasis<T, Ctx>& basis_;
  LanczosOperator<T, Ctx>& F_;
  LanczosRitzOf<Wide<T>>& ritz_;
  PairLedger& pairs_;
  EigenResult<T, Space>& result_;
  StagnationTest stagnation_;
  Engine<Ctx> engine_;
  OperatorChoice<T, Ctx> choice_;
  ConstBlockView<T, Space> known_;  // null vectors that are locked from the start
  Completeness completeness_;
  Verification<T, Ctx> verification_;
  AfterCycle next_ = AfterCycle::thick_restart;
  bool cycle_complete_ = false;  // false if a limit or the monitor ended the cycle
  Index most_converged_ = 0;
  Index last_converged_ = 0;  // the iteration in which a pair was the last to converge
  bool stalled_ = false;      // whether a larger basis or a dense solve is needed
  bool has_pairs_ = false;    // whether the current Ritz pairs are those of the basis
};

}  // namespace heddle::detail
