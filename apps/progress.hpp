#pragma once

#include <chrono>
#include <deque>
#include <heddle/solvers/problem/monitor.hpp>
#include <string>

namespace heddle::apps {

/// How a solve reports its progress on stderr.
enum class ProgressStyle {
  silent,
  lines,  ///< one line at the first iteration, then one every few seconds
  live,   ///< one line that is rewritten and finally removed, for terminals
};

/// The progress style that suits this process's stderr.
ProgressStyle progress_style(bool quiet) noexcept;

/// Reports a solve's iterations: their number, converged pairs, worst residual, the factor by which
/// it falls per iteration, and time.
class Progress {
 public:
  explicit Progress(ProgressStyle style) noexcept : style_(style) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const MonitorState& state);

  /// The progress line for the latest state.
  std::string line(const MonitorState& state) const;

 private:
  using Clock = std::chrono::steady_clock;

  void update_rate(const IterationRecord& record);
  void show_line(const MonitorState& state);

  ProgressStyle style_;
  std::deque<double> recent_;  // worst residuals of the latest iterations
  Clock::time_point shown_at_{};
  double next_line_s_ = 0;  // the solve time at which the next line is due
  bool line_open_ = false;
};

}  // namespace heddle::apps
