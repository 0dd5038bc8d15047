#pragma once

#include <heddle/solvers/cg/column_products.hpp>
#include <heddle/solvers/cg/column_progress.hpp>
#include <heddle/solvers/cg/operator_norm.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle::detail {

/// The columns of a linear system while a conjugate gradient method works on them: how a solve
/// begins, which columns are active, when residuals are computed as B − A X, and how a solve ends.
/// The method itself only updates X and R. X and R hold the columns in the order of `ColumnLedger`.
template <Scalar T, class Ctx>
class LinearColumns {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = LinearColumnsStorage<T, Ctx>;
  using Stop = StopControl::Stop;

  /// Everything is kept by reference and must outlive the solve.
  LinearColumns(Ctx& context, const LinearSystem<T, Ctx>& system, const LinearOptions& options,
                Index refresh_interval, const Monitor& monitor, std::vector<std::string> identity,
                Storage& storage);

  /// X ← X₀, R ← B − A X, scaled. From a checkpoint: X, R and P as they were. Returns the iteration
  /// to begin with.
  Index start();

  /// Finishes an iteration. True if the solve has ended. May recompute R and move columns.
  bool finish_iteration(Index iteration);

  /// Completes the result: fresh residuals, X in the order and the scale of B. A column that is
  /// worse than its initial guess becomes that guess again.
  void finish();

  Index active() const noexcept { return s_.ledger.active; }
  Block X() { return s_.result.solution.columns(0, active()); }
  Block R() { return s_.R.columns(0, active()); }

  /// The active columns.
  std::span<LinearColumn> columns() { return s_.ledger.active_columns(); }

  // The hooks of the engine, see `IterativeSolve`.
  IterationRecord record() const;
  MonitorState shown(const IterationRecord& record);
  std::optional<Stop> trouble() const;
  Claim claim();
  std::string refutation() const;
  bool at_rounding() const;
  bool stagnated();
  void archive(Archive& archive);
  template <class Visit>
  void for_each_block(const Visit& visit) {
    visit(s_.result.solution.columns(0, s_.ledger.nonzero));
    visit(s_.R.columns(0, active()));
    visit(s_.directions.P.columns(0, s_.directions.count));
  }

  /// Requests new search directions that depend on R alone, because the old ones are not consistent
  /// with R any more.
  void request_restart() noexcept { restart_requested_ = true; }

  /// Whether a restart was requested since the last call.
  bool take_restart() noexcept { return std::exchange(restart_requested_, false); }

  /// Sets a multiple of the limits on ‖r‖. Converged columns stay active while ‖r‖ of every active
  /// column is within this multiple of its limit. For methods in which they help the others to
  /// converge.
  void stay_together_below(double excess) noexcept { stay_below_ = excess; }

  ColumnProducts<T, Ctx>& products() noexcept { return products_; }
  OperatorNorm<T, Ctx>& norm_A() noexcept { return norm_A_; }

  /// Calls `ColumnProducts::measure`. If that returns a stop, raises the preconditioner and
  /// requests a restart, or ends the solve where it is in full precision, and returns false.
  bool measure(ConstSmallView<double, HostSpace> norms);

  /// Whether all active columns have converged by ‖r_j‖ of the last step. No direction is needed
  /// then: takes ‖r_j‖, and requests a restart in case the solve goes on after all. Only the host
  /// knows ‖r_j‖ without a wait: false on a GPU.
  bool have_converged(ConstSmallView<double, Space> norms);

  /// Ends the solve because there is no search direction p with pᵀAp > 0. That may be due to
  /// rounding if the fresh residuals are as small as rounding allows, and is due to a singular A
  /// otherwise.
  void end_without_energy();

  /// Ends the solve if there is a stop. Only the first one has an effect.
  void end(const std::optional<Stop>& stop) noexcept {
    if (stop) engine_.end(stop->status, stop->reason);
  }
  bool ended() const noexcept { return engine_.ended(); }

 private:
  void resume();
  void fresh_residuals(Index count);
  void refresh();
  Claim verify();

  Ctx& context_;
  const LinearSystem<T, Ctx>& system_;
  const LinearOptions& options_;
  Index refresh_interval_;
  Storage& s_;
  ColumnOrder<T, Ctx> order_;
  ColumnProducts<T, Ctx> products_;
  OperatorNorm<T, Ctx> norm_A_;
  ColumnProgress progress_;
  Engine<Ctx> engine_;
  double stay_below_ = 0;
  bool restart_requested_ = true;
  // Whether the norms in the ledger belong to recomputed residuals of all columns.
  bool measured_ = false;
};

}  // namespace heddle::detail
