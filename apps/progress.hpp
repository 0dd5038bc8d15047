#pragma once

#include <cstddef>
#include <deque>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <string>
#include <string_view>

namespace heddle::apps {

/// How a run reports its progress on stderr.
enum class ProgressStyle {
  silent,
  lines,  ///< one line at the first iteration, then one every few seconds
  live,   ///< one line that is rewritten and finally removed, for terminals
};

/// The progress style that suits this process's stderr.
ProgressStyle progress_style(bool quiet) noexcept;

/// Reports the stages of a run, such as "loading" and "factoring", and the iterations of a solve:
/// their number, converged pairs, worst residual, the factor by which it falls per iteration, and
/// time. The live line is never wider than the terminal, whose width is asked for at each change.
/// Plain lines are also written to the log file, and stages to the log file alone.
class Progress {
 public:
  explicit Progress(ProgressStyle style) noexcept : style_(style) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that a stage begins.
  void begin_stage(std::string_view name);

  /// Reports an iteration.
  void show(const MonitorState& state);

  /// Removes the live line, so that other text can be written to the terminal.
  void clear() noexcept;

  /// The progress line for the latest state, at most `width` characters long. Parts that do not fit
  /// are left out, the rate first, then the time, then the residual.
  std::string line(const MonitorState& state, std::size_t width) const;

 private:
  void update_rate(const IterationRecord& record);
  void show_line(const MonitorState& state);
  void rewrite(const std::string& text);

  ProgressStyle style_;
  std::deque<double> recent_;  // worst residuals of the latest iterations
  Clock::time_point shown_at_{};
  double next_line_s_ = 0;  // the solve time at which the next line is due
  bool line_open_ = false;
};

}  // namespace heddle::apps
