#pragma once

#include <algorithm>
#include <chrono>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::detail {

/// The pairs of a result that pass, by its own list. 0 if they have not been measured.
template <class Result>
Index passed_pairs(const Result& result) noexcept {
  if (result.converged.size() != result.residuals.size()) return 0;
  return std::count(result.converged.begin(), result.converged.end(), true);
}

/// Adds ", worst residual …" to the sentence of a result. Nothing for NaN, where no vector has been
/// measured.
void write_worst_residual(double residual, std::string& sentence);

/// Controls the end of a solve. It holds the first reason given, the limits of iterations and time,
/// and the clock, and writes the sentence of the result.
///
/// Every process of a context ends at the same iteration and for the same reason: decisions that
/// depend on the clock or a monitor are made common by `Context::agree`.
class StopControl {
 public:
  /// A status and the reason for it. The characters of `reason` must outlive the `StopControl`.
  struct Stop {
    SolveStatus status;
    std::string_view reason;
  };

  static constexpr Stop kOnRequest{SolveStatus::interrupted, "stopped on request"};
  static constexpr Stop kOutOfTime{SolveStatus::time_limit, "the time limit was reached"};

  /// Starts the clock.
  StopControl(Index max_iterations, double time_limit_s) noexcept
      : max_iterations_(max_iterations), time_limit_s_(time_limit_s) {}

  /// Ends the solve. Only the first call has an effect.
  void end(SolveStatus status, std::string_view reason) noexcept {
    if (!ended_) ended_ = {status, reason};
  }
  void end(const Stop& stop) noexcept { end(stop.status, stop.reason); }

  /// Forgets the end, for a solve that tries another method after one that failed.
  void reopen() noexcept { ended_.reset(); }

  bool ended() const noexcept { return ended_.has_value(); }
  SolveStatus status() const noexcept { return ended_->status; }
  std::string_view reason() const noexcept { return ended_->reason; }

  /// The end that the monitor or a limit requests after `iteration`, if one does.
  /// `monitor_stops`: the monitor of this process returned false.
  template <Context Ctx>
  std::optional<Stop> requested(Ctx& context, Index iteration, bool monitor_stops) const {
    if (context.agree(monitor_stops)) return kOnRequest;
    if (iteration >= max_iterations_) {
      return Stop{SolveStatus::max_iterations, "the iteration limit was reached"};
    }
    if (out_of_time(context)) return kOutOfTime;
    return std::nullopt;
  }

  /// Whether any process of the context has reached the time limit.
  template <Context Ctx>
  bool out_of_time(Ctx& context) const {
    return context.agree(seconds_of_run() >= time_limit_s_);
  }

  /// Whether less than `seconds` are left until the time limit on any process of the context. A
  /// negative value asks whether the limit was exceeded by more than its absolute value.
  template <Context Ctx>
  bool less_time_left_than(Ctx& context, double seconds) const {
    return context.agree(seconds_left() < seconds);
  }

  /// Seconds until the time limit on this process, negative beyond it. For the time limit of a
  /// nested solve, not for decisions.
  double seconds_left() const noexcept { return time_limit_s_ - seconds_of_run(); }

  /// Seconds that the solve has taken, over all its runs, without the pauses between a stop and the
  /// resumption from a checkpoint.
  double seconds() const noexcept { return seconds_before_ + seconds_of_run(); }

  /// Saves or loads the seconds.
  void archive(Archive& archive) {
    double so_far = seconds();
    archive.values(so_far);
    if (archive.loading()) seconds_before_ = so_far - seconds_of_run();
  }

  /// The numbers of the sentence that a result gives as its reason.
  struct Account {
    Index converged;
    Index wanted;
    std::string_view items;  ///< what is wanted: "pairs", "columns"
    Index iterations;
    std::string_view steps;  ///< the method's word for iterations
    double worst_residual;   ///< NaN where there is no residual
  };

  /// sentence ← "REASON: CONVERGED of WANTED ITEMS converged in ITERATIONS STEPS, worst residual
  /// …", without the residual where there is none.
  void write_sentence(const Account& account, std::string& sentence) const;

 private:
  double seconds_of_run() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  Index max_iterations_;
  double time_limit_s_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double seconds_before_ = 0;  // of the runs before the checkpoint that this one resumed from
  std::optional<Stop> ended_;
};

}  // namespace heddle::detail
