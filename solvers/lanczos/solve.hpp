#pragma once

#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/lanczos/completeness.hpp>
#include <heddle/solvers/lanczos/operator_choice.hpp>
#include <heddle/solvers/lanczos/verification.hpp>
#include <heddle/solvers/lanczos/workspace.hpp>

namespace heddle::detail {

/// What follows the end of a cycle.
enum class AfterCycle {
  thick_restart,  ///< under the same operator, or a better one
  start_again,    ///< an eigenvalue lies above the interval of the polynomial
  lower_shift,    ///< σ lies so near to an eigenvalue that rounding spoils others
  retreat,        ///< fresh products refuted the pairs of an inverse: σ moves much further away
  begin_check,    ///< all wanted pairs have converged: a random block looks for others
  reopen,         ///< fresh products refuted some of them: these are iterated on again
};

/// One block Lanczos solve: the loop and its steps, over the memory of a workspace. What is
/// iterated on is the matter of `OperatorChoice`, the pairs are those of `PairLedger`, whether they
/// are all is asked of `Completeness`, and whether they are right of `Verification`.
template <Scalar T, class Ctx>
class BlockLanczosSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference and must outlive the solve.
  BlockLanczosSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const BlockLanczosOptions& options, const Monitor& monitor, Storage& storage);

  /// Iterates until the pairs are converged and verified, or something else ends it. The result is
  /// then in the storage.
  void run();

  // The hooks of the engine, see `ResumableSolve`. An iteration is a cycle.
  IterationRecord record() const;
  MonitorState shown(const IterationRecord& record);
  std::optional<StopControl::Stop> trouble() const { return std::nullopt; }
  Claim claim();
  bool at_rounding() const;
  bool stagnated();
  void archive(Archive& archive);
  template <class Visit>
  void for_each_block(const Visit& visit) {
    basis_.for_each(visit);
  }

 private:
  // The steps of the loop, in its order.
  bool start();
  void abandon_step();
  bool cycle_ends();
  void rayleigh_ritz();
  bool finished();
  void restart();
  void finish();

  bool early_end_pays() const;
  bool solve_ritz();
  void set_norms();
  bool beyond_interval();
  bool verify();
  void end_if_lost(const FrontStatus& status);

  // What may follow a cycle.
  void thick_restart();
  bool improve_operator();
  void start_again();
  void lower_shift(double retreat);
  void begin_check();
  void reopen();

  void solve_dense();

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  Storage& s_;
  KrylovBasis<T, Ctx>& basis_;
  LanczosOperator<T, Ctx>& F_;
  LanczosRitz& ritz_;
  PairLedger& pairs_;
  EigenResult<T, Space>& result_;
  StagnationTest stagnation_;
  Engine<Ctx> engine_;
  OperatorChoice<T, Ctx> choice_;
  Completeness completeness_;
  Verification<T, Ctx> verification_;
  AfterCycle next_ = AfterCycle::thick_restart;
  bool cycle_complete_ = false;  // else a cycle ends for want of time
  bool has_pairs_ = false;       // the Ritz pairs at hand are those of the basis
};

}  // namespace heddle::detail
