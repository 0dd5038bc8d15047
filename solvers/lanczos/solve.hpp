#pragma once

#include <heddle/solvers/iteration/checkpointer.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/lanczos/workspace.hpp>
#include <limits>
#include <optional>

namespace heddle {

/// What follows the end of a cycle.
enum class AfterCycle {
  thick_restart,  ///< under the same operator, or a better one
  start_again,    ///< an eigenvalue lies above the interval of the polynomial
  lower_shift,    ///< σ lies so near to an eigenvalue that rounding spoils others
  retreat,        ///< fresh products refuted the pairs of an inverse: σ moves much further away
  begin_check,    ///< all wanted pairs have converged: a random block looks for others
  reopen,         ///< fresh products refuted some of them: these are iterated on again
};

/// One block Lanczos solve: the steps that the loop in `run` is made of, over the memory of a
/// workspace.
template <Scalar T, class Ctx>
class BlockLanczosSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference and must outlive the solve.
  BlockLanczosSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const BlockLanczosOptions& options, const Monitor& monitor, Storage& storage);

  /// Iterates until the pairs are converged and verified, or something else ends it; the result
  /// then stands in the storage.
  void run();

 private:
  // The steps, in the order of the loop.
  bool start();
  void abandon_step();
  bool cycle_ends();
  void note();
  void ritz();
  bool finished();
  void restart();
  void finish();

  // Ritz pairs and what they are worth.
  bool solve_ritz();
  bool look_is_cheap() const;
  bool nothing_is_left();
  void set_norms();
  void count_converged();
  bool worth_measuring() const;
  void count_measured();
  bool settled(Index j) const;
  double first_value() const;
  double last_value() const;
  double residual_of(Index j) const;
  double worst_residual() const;

  // What is iterated on.
  bool improve_operator();
  Index last_undamped() const;
  double applications_after_cycle(int degree) const;
  bool too_many_applications(int degree);
  bool inverse_pays(int degree);
  bool time_to_factor();
  void invert(double highest, double scale);
  double farthest_located() const;
  bool shift_is_too_near() const;
  void lower_shift(double retreat);
  double upper_end() const;
  void start_again();
  bool beyond_interval();
  bool leads_beyond_interval();
  double norm_of_C() const;

  // Restarts and the search for missed pairs.
  void lock_exact(Index kept);
  void begin_check();
  void keep_best_locked();
  void reopen();
  bool confirmed();
  Index missed() const;
  bool others_would_show() const;
  bool same_value(double a, double b) const;
  bool next_is_at_rest() const;

  // The end.
  void solve_dense();
  void end_unverified();
  void collect_pairs();
  bool verify();
  bool measure(Index count);
  void record();
  bool monitor_agrees();
  void adopt(const FrontStatus& status);
  Index applications() const;
  Index inverse_applications() const;
  void archive(Archive& archive);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  const Monitor& monitor_;
  Storage& s_;
  KrylovBasis<T, Ctx>& basis_;
  LanczosRitz& ritz_;
  EigenResult<T, Space>& result_;
  EigenConvergence convergence_;
  StagnationTest stagnation_;
  StopControl ending_;
  Checkpointer checkpointer_;
  Index applications_before_;
  Index inverse_applications_before_;
  double norm_A_ = 0;
  double norm_B_ = 1;
  bool norms_known_ = false;
  double largest_theta_ = 0;  // the largest |θ| met: ‖F‖ as far as it is known
  // The largest y that may be an eigenvalue, as far as cycles on C itself told.
  double far_end_ = -std::numeric_limits<double>::infinity();
  Index leading_ = 0;            // leading active pairs that pass the criterion
  Index failed_checks_ = 0;      // claims of convergence that fresh products refuted
  double strictness_ = 1;        // of the criterion; falls with each failed check
  bool cycle_complete_ = false;  // else it ends for want of time
  bool checking_ = false;        // all wanted pairs are locked, a random block looks for others
  AfterCycle next_ = AfterCycle::thick_restart;
  bool has_pairs_ = false;                     // the Ritz pairs at hand are those of the basis
  DenseFailure failure_ = DenseFailure::none;  // of the last Rayleigh–Ritz step of a check
  bool measured_ = false;                      // the result holds verified numbers
};

}  // namespace heddle
