#pragma once

#include <chrono>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <optional>
#include <string_view>

namespace heddle {

/// How a solve ends and how long it takes.
class Ending {
 public:
  /// An end that was asked for.
  struct Stop {
    SolveStatus status;
    std::string_view reason;
  };

  Ending(Index max_iterations, double time_limit_s) noexcept
      : max_iterations_(max_iterations), time_limit_s_(time_limit_s) {}

  /// The first end counts. `reason` must outlive this object.
  void end(SolveStatus status, std::string_view reason) noexcept {
    if (!ended_) ended_ = {status, reason};
  }
  void end(const Stop& stop) noexcept { end(stop.status, stop.reason); }

  /// For another way to solve what could not be solved so.
  void reopen() noexcept { ended_.reset(); }

  bool ended() const noexcept { return ended_.has_value(); }
  SolveStatus status() const noexcept { return ended_->status; }
  std::string_view reason() const noexcept { return ended_->reason; }

  /// The end that the monitor or a limit asks for after `iteration`.
  std::optional<Stop> asked(Index iteration, bool monitor_agrees) const noexcept {
    if (!monitor_agrees) return Stop{SolveStatus::interrupted, "stopped on request"};
    if (iteration >= max_iterations_) {
      return Stop{SolveStatus::max_iterations, "the iteration limit was reached"};
    }
    if (out_of_time()) return Stop{SolveStatus::time_limit, "the time limit was reached"};
    return std::nullopt;
  }

  bool out_of_time() const noexcept { return seconds_of_run() >= time_limit_s_; }

  /// Until the time limit; negative beyond it.
  double seconds_left() const noexcept { return time_limit_s_ - seconds_of_run(); }

  /// Since the solve began, without pauses between an end and going on from a checkpoint.
  double seconds() const noexcept { return earlier_ + seconds_of_run(); }

  void archive(Archive& archive) {
    double so_far = seconds();
    archive.values(so_far);
    if (archive.loading()) earlier_ = so_far - seconds_of_run();
  }

  /// reason ← "REASON: CONVERGED of WANTED ITEMS converged in ITERATIONS STEPS, worst residual …";
  /// the worst of no residuals is NaN.
  struct Account {
    Index converged;
    Index wanted;
    std::string_view items;
    Index iterations;
    std::string_view steps;
    double worst_residual;
  };
  void write_reason(const Account& account, std::string& reason) const;

 private:
  double seconds_of_run() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  Index max_iterations_;
  double time_limit_s_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double earlier_ = 0;  // seconds of the runs that this one goes on from
  std::optional<Stop> ended_;
};

}  // namespace heddle
