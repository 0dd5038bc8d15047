#pragma once

#include <chrono>
#include <deque>
#include <heddle/solvers/problem/monitor.hpp>
#include <string>

namespace heddle::apps {

/// How a solve's progress is shown on stderr.
enum class ProgressStyle {
  silent,
  lines,  ///< a line at the first iteration, then one in some seconds
  live,   ///< one line that is rewritten, removed at the end; for terminals
};

/// The style for this process's stderr.
ProgressStyle progress_style(bool quiet) noexcept;

/// Shows a solve's iterations: how many, pairs converged, worst residual, the factor by which it
/// falls an iteration, time.
class Progress {
 public:
  explicit Progress(ProgressStyle style) noexcept : style_(style) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const MonitorState& state);

  /// The line for the state shown last.
  std::string line(const MonitorState& state) const;

 private:
  using Clock = std::chrono::steady_clock;

  void update_rate(const IterationRecord& record);
  void show_line(const MonitorState& state);

  ProgressStyle style_;
  std::deque<double> recent_;  // worst residuals of the last iterations
  Clock::time_point shown_at_{};
  double next_line_s_ = 0;  // of solving
  bool line_open_ = false;
};

}  // namespace heddle::apps
