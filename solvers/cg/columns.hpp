#pragma once

#include <cmath>
#include <heddle/solvers/cg/columns_storage.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/problem/linear_system.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace heddle::detail {

/// The columns of a linear system while a conjugate gradient method works on them: scaling,
/// convergence, fresh residuals, the columns that leave, and how a solve ends. X and R hold the
/// active columns first, then those that have left, then those with b = 0.
template <Scalar T, class Ctx>
class LinearColumns {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = LinearColumnsStorage<T, Ctx>;

  /// Everything is kept by reference and must outlive the solve.
  LinearColumns(Ctx& context, const LinearSystem<T, Ctx>& system, const LinearOptions& options,
                Index refresh_interval, const Monitor& monitor, std::vector<std::string> identity,
                Storage& storage);

  /// X ← X₀, R ← B − A X, scaled; or X, R and P as a checkpoint has them. Returns the iteration to
  /// begin with.
  Index start();

  /// Ends an iteration: whether the solve has ended. May make R afresh and move columns.
  bool finish_iteration(Index iteration);

  /// Completes the result: fresh residuals, X in the order and the scale of B, without columns that
  /// are worse than what they began with.
  void finish();

  Index active() const noexcept { return active_; }
  Block X() { return s_.result.solution.columns(0, active_); }
  Block R() { return s_.R.columns(0, active_); }

  // The hooks of the engine, see `IterativeSolve`.
  IterationRecord record() const;
  MonitorState shown(const IterationRecord& record);
  std::optional<StopControl::Stop> trouble() const;
  Claim claim();
  bool at_rounding() const;
  bool stagnated();
  void archive(Archive& archive);
  template <class Visit>
  void for_each_block(const Visit& visit) {
    visit(result_.solution.columns(0, nonzero_));
    visit(s_.R.columns(0, active_));
    visit(s_.directions.P.columns(0, s_.directions.count));
  }

  /// Of the active columns.
  std::span<LinearColumn> columns() {
    return {s_.columns.data(), static_cast<std::size_t>(active_)};
  }

  /// Requests search directions that depend on R alone: the old ones do not fit R any more.
  void request_restart() noexcept { restart_requested_ = true; }

  /// Whether a restart was requested since the last call.
  bool take_restart() noexcept { return std::exchange(restart_requested_, false); }

  /// Converged columns stay as long as no other exceeds what the criterion allows by more than this
  /// factor: for methods in which they help the others to converge.
  void stay_together_below(double excess) noexcept { stay_below_ = excess; }

  /// Q = A P, counted.
  void multiply_A(ConstBlockView<T, Space> P, Block Q);

  /// M⁻¹ R: R itself where M = I, else made in Z; r_jᵀM⁻¹r_j will stand in the packet.
  ConstBlockView<T, Space> precondition(Block Z);

  /// Takes from the fetched packet ‖r_j‖ and r_jᵀM⁻¹r_j of the active columns. False, and the solve
  /// has ended, if they say that M is not positive definite or that numbers are not finite.
  bool measure(ConstSmallView<double, HostSpace> norms);

  /// Takes a Rayleigh quotient pᵀAp/pᵀp: with others, an estimate of ‖A‖.
  void add_rayleigh_quotient(double value) noexcept {
    if (std::isfinite(value)) rayleigh_ = std::max(rayleigh_, value);
  }
  double largest_rayleigh_quotient() const noexcept { return rayleigh_; }

  /// Ends the solve if the least Rayleigh quotient of m directions is not finite, or below zero by
  /// more than rounding, 10 m ε ‖A‖: A is indefinite.
  void check_least_rayleigh_quotient(double least, Index m) noexcept;

  /// Ends the solve: a direction was needed, and no pᵀAp is positive.
  void end_without_energy() noexcept {
    end(SolveStatus::breakdown, "no direction of positive energy is left: A is singular");
  }

  void end(SolveStatus status, std::string_view reason) noexcept { engine_.end(status, reason); }
  bool ended() const noexcept { return engine_.ended(); }

 private:
  void probe_preconditioner();
  void scale_right_hand_sides();
  void resume();
  void gather(ConstBlockView<T, Space> source, Block target);
  void scale(Block X, double (*factor)(const LinearColumn&));
  void fresh_residuals(Index count);
  void refresh();
  Claim verify();
  void shrink();
  bool diverged() const;
  void restore_order();
  void take_back();
  double allowed_growth() const;
  Index bring_forward(Index count, bool (*predicate)(const LinearColumn&));
  void swap_columns(Index i, Index j);
  double norm_A() const;
  double backward_error(const LinearColumn& column) const;
  double worst_excess() const;
  Index applications() const { return system_.A->columns_applied() - applications_before_; }

  Ctx& context_;
  const LinearSystem<T, Ctx>& system_;
  const LinearOptions& options_;
  Index refresh_interval_;
  Storage& s_;
  LinearResult<T, Space>& result_;
  typename Packet<Ctx>::Part energies_{};  // r_jᵀM⁻¹r_j, where there is an M
  Engine<Ctx> engine_;
  Index applications_before_;
  Index active_ = 0;
  Index nonzero_ = 0;  // leading columns with b ≠ 0
  double stay_below_ = 0;
  double rayleigh_ = 0;       // the largest met
  double best_excess_;        // least worst_excess so far
  Index best_iteration_ = 0;  // and when
  double best_claim_;         // the same among refuted claims of convergence
  bool restart_requested_ = true;
  bool measured_ = false;  // norms in s_.columns belong to fresh residuals of all columns
};

}  // namespace heddle::detail
