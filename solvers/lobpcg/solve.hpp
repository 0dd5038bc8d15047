#pragma once

#include <heddle/solvers/iteration/constrained_operator.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/lobpcg/directions.hpp>
#include <heddle/solvers/lobpcg/missed_pairs.hpp>
#include <heddle/solvers/lobpcg/step_residuals.hpp>
#include <heddle/solvers/lobpcg/verification.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <initializer_list>

namespace heddle::detail {

/// One LOBPCG solve over the blocks of a workspace. The loop in `run` consists of the steps
/// declared here.
template <Scalar T, class Ctx>
class LobpcgSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename LobpcgWorkspace<T, Ctx>::Storage;
  using Part = typename Packet<Ctx>::Part;

  /// Everything is kept by reference and must outlive the solve.
  LobpcgSolve(Ctx& context, const EigenProblem<T, Ctx>& problem, const LobpcgOptions& options,
              const Monitor& monitor, Storage& storage);

  /// Iterates until the pairs have converged and are verified, or until another reason ends the
  /// solve. Then the result is in the storage.
  void run();

  /// Takes this number of steps from the start vectors, for X alone: no pair is checked, and there
  /// is no result. False if the numbers break down.
  bool refine(Index steps);

  // The hooks of the engine, see `IterativeSolve`.
  IterationRecord record() const;
  MonitorState shown(const IterationRecord& record);
  std::optional<StopControl::Stop> trouble() const;
  Claim claim();
  std::string refutation() const { return s_.verifier.refutation(pairs_.convergence()); }
  bool at_rounding();
  bool stagnated();
  void archive(Archive& archive);
  template <class Visit>
  void for_each_block(const Visit& visit) {
    blocks_.for_each(visit);
  }

 private:
  // The steps, in the order of the loop.
  Index start();
  void residuals();
  bool finish_iteration(Index iteration);
  void lock_converged();
  void search_directions();
  void rayleigh_ritz(std::span<const double> errors);
  void search_missed();
  void finish();

  void release(Index pair);
  void lock_null_vectors();
  void start_X();
  bool tells(Index guesses);
  void set_norms();
  void refresh();
  void read_residuals();
  bool orthonormal_by_rounds(const DirectionColumns& columns);
  void orthonormalize_W();
  void rayleigh_ritz_afresh();
  Index make_orthonormal(Block V, Block BV, std::initializer_list<Basis<T, Space>> bases);

  Ctx& context_;
  Storage& s_;
  ConstrainedOperator<T, Ctx> constrained_A_;
  EigenProblem<T, Ctx> problem_;  // with A as `constrained_A_` if there are constraints
  const LobpcgOptions& options_;
  LobpcgBlocks<T, Ctx>& blocks_;
  RayleighRitz<T, Ctx>& ritz_;
  LobpcgPairs& pairs_;
  EigenResult<T, Space>& result_;
  StagnationTest stagnation_;
  Engine<Ctx> engine_;
  LobpcgVerification<T, Ctx> verification_;
  MissedPairs<T, Ctx> missed_pairs_;
  std::optional<PreconditionerSchedule<T, Ctx>> own_preconditioner_;
  PreconditionerSchedule<T, Ctx>* preconditioner_;  // null: T = I
  StepResiduals<T, Ctx> step_residuals_;
  Directions<T, Ctx> directions_;
  Index applications_before_ = 0;
  Index constraints_ = 0;      // leading columns of Y
  std::uint64_t streams_ = 0;  // random blocks drawn
  Index steps_since_refresh_ = 0;
  Index fresh_directions_ = 0;  // number of random columns in the next W
  bool refresh_due_ = false;    // whether the next iteration begins with `refresh`
  bool refining_ = false;       // whether guesses take all of X
  bool guessed_ = false;        // whether X began with guesses that may lack a wanted pair
  // Whether the iteration was restarted without P, at the first stagnation.
  bool restarted_ = false;
  bool residuals_known_ = false;  // whether the residuals of this step are on the host
  bool finished_ = false;         // whether the engine has finished this iteration
};

}  // namespace heddle::detail
