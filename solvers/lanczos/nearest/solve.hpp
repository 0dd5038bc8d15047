#pragma once

#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/lanczos/constrained_pencil.hpp>
#include <heddle/solvers/lanczos/nearest/shift.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::detail {

/// What may follow a cycle.
enum class AfterNearest {
  thick_restart,
  grow,          ///< new start with a larger basis, because the leading pairs do not settle
  search,        ///< a random block searches for pairs that the count shows to be missing
  choose_again,  ///< thick restart, or the same dense solve, with other leading pairs
  whole_space,   ///< a dense solve, because the pairs do not converge
  move_shift,    ///< new start with another s, because s is so near to an eigenvalue that rounding
                 ///< spoils other pairs
};

/// One solve of `nearest_eigenpairs`. The loop in `run` consists of the steps declared here.
template <Scalar T, class Ctx>
class NearestSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;

  /// Everything is kept by reference and must outlive the solve. `given`: eigenvectors that are
  /// known already, XᵀBX = I, or XᵀAX = I for a definite A. The result does not contain them, and
  /// counts, those of the options as well, do.
  NearestSolve(Ctx& context, const EigenProblem<T, Ctx>& problem, ConstBlockView<T, Space> given,
               IndefiniteInverse<T, Ctx>& inverse, const NearestOptions& options,
               const Monitor& monitor);

  EigenResult<T, Space> run();

  // The hooks of the engine, see `IterativeSolve`. An iteration is a cycle.
  IterationRecord record();
  MonitorState shown(const IterationRecord& record) const;
  std::optional<StopControl::Stop> trouble() const { return std::nullopt; }
  Claim claim();
  std::string refutation() const {
    return (pairs_.reciprocal ? "of 1/lambda: " : "") + s_->verifier.refutation(convergence_);
  }
  /// The pairs of the last verification, after `run`.
  const NearestPairs& pairs() const noexcept { return pairs_; }

  bool at_rounding() const { return convergence_.all_at_noise(result_.residuals); }
  bool stagnated();

 private:
  // The steps of the loop.
  void plan();
  void solve_whole();
  bool cycle_ends();
  void ritz();
  void restart();
  void finish();

  void start();
  void thick_restart();
  void search();
  bool stalls();
  bool give_up();
  void end_if_lost(const FrontStatus& status);
  void end_without_pairs();
  void grow();
  void make_storage(const NearestShape& shape);
  bool take_ritz_pairs();
  bool settled(Index j) const;
  bool all_settled() const;
  bool count();
  void search_copies();
  void write_reason();

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  IndefiniteInverse<T, Ctx>& inverse_;
  const NearestOptions& options_;
  EigenProblem<T, Ctx> measured_;  // with A and B exchanged where A is definite, and constrained
  ConstrainedPencil<T, Ctx> constraints_;
  ConstBlockView<T, Space> given_;
  RowRange rows_;
  Index n_;     // order of the problem
  Index held_;  // constraints and given vectors, which a basis locks
  Index applications_before_, solves_before_;
  EigenResult<T, Space> result_;
  Engine<Ctx> engine_;
  EigenConvergence convergence_;
  StagnationTest stagnation_;
  std::optional<NearestStorage<T, Ctx>> s_;
  std::optional<PencilInverse<T, Ctx>> F_;
  NearestPairs pairs_;
  NearestVerification<T, Ctx> verification_;
  NearestShift<T, Ctx> shift_;
  Index wanted_ = 0;   // pairs of the result
  Index refuted_ = 0;  // claims
  MissingPairs missing_;
  double strictness_ = 1;
  double left_ = 0;          // decades of the residuals of leading pairs above settling
  Index last_progress_ = 0;  // the cycle in which they last fell
  double worst_ = 0;         // scaled residual of the leading pairs
  bool lenient_ = false;     // whether pairs passed as far as rounding allows
  AfterNearest next_ = AfterNearest::thick_restart;
  bool proven_ = false;
  bool mismatch_ = false;  // whether the last count has contradicted the pairs
  std::string trouble_;
};

}  // namespace heddle::detail
