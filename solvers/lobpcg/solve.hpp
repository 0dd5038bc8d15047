#pragma once

#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>
#include <initializer_list>

namespace heddle::detail {

/// One LOBPCG solve: the steps that the loop in `run` is made of, over the blocks of a workspace.
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

  /// Iterates until the pairs are converged and verified, or something else ends it; the result
  /// then stands in the storage.
  void run();

  // The hooks of the engine, see `IterativeSolve`.
  IterationRecord record() const;
  MonitorState shown(const IterationRecord& record);
  std::optional<StopControl::Stop> trouble() const;
  Claim claim();
  bool at_rounding() const { return false; }
  bool stagnated();
  void archive(Archive& archive);
  template <class Visit>
  void for_each_block(const Visit& visit) {
    blocks_.for_each(visit);
  }

 private:
  // The steps, in the order of the loop. When and how it ends is in detail/lobpcg_ending.cpp.
  Index start();
  void residuals();
  bool decision_due(Index iteration) const;
  bool go_on(Index iteration);
  void lock_converged();
  void search_directions();
  void rayleigh_ritz();
  void finish();

  void start_constraints();
  void start_X();
  void draw(Block V);
  void set_norms();
  void refresh();
  void queue_residuals();
  void observe();
  void fill_W(Index first, Index active, Index fresh);
  bool orthonormal_in_two_rounds();
  void orthonormalize_W();
  void project_W();
  void rayleigh_ritz_afresh();
  Index make_orthonormal(Block V, Block BV, std::initializer_list<Basis<T, Space>> bases);
  Index block_wanted() const;
  Index enough_to_lock() const;
  bool more_to_come() const;
  double locking_factor() const;
  bool guards_agree() const;
  bool converged(Index j, double factor) const;
  void count_converged();
  bool verify();
  bool collect_pairs(Block V);
  double worst_residual() const;
  Index applications() const;

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const LobpcgOptions& options_;
  Storage& s_;
  LobpcgBlocks<T, Ctx>& blocks_;
  RayleighRitz<T, Ctx>& ritz_;
  EigenResult<T, Space>& result_;
  EigenConvergence convergence_;
  StagnationTest stagnation_;
  Engine<Ctx> engine_;
  Index applications_before_;
  Part residual_norms_{};      // of the step, in the packet
  Part x_norms_{};             // likewise, for a pencil
  Index constraints_ = 0;      // leading columns of Y
  Index leading_ = 0;          // leading columns of X that pass the criterion
  Index wanted_in_X_ = 0;      // leading columns of X among the nev best of locked and X
  std::uint64_t streams_ = 0;  // random blocks drawn
  Index steps_since_refresh_ = 0;
  Index last_lock_ = 0;         // iteration of the last lock
  Index fresh_directions_ = 0;  // random columns that the next W takes in
  Index comparable_steps_ = 0;  // observed since the columns of X last changed their places
  double strictness_ = 1;       // of the criterion; halved by each failed check
  bool refresh_due_ = false;    // before the next step X, P, A X and A P must be made afresh
  bool restarted_ = false;      // without P, after a first stagnation
  bool observed_ = false;       // the host knows the residuals of this step
  bool judged_ = false;         // and drew its conclusions
  bool measured_ = false;       // the result holds verified numbers
};

}  // namespace heddle::detail
