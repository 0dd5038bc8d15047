#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace heddle::apps {

/// How a run reports its progress on stderr.
enum class ProgressStyle {
  silent,
  lines,  ///< one line at the first iteration, then one every few seconds; long stages likewise
  live,   ///< one line that is rewritten and finally removed, for terminals
};

/// The progress style that suits this process's stderr.
ProgressStyle progress_style(bool quiet) noexcept;

/// Whether text on the stream of this descriptor may be bold: on a terminal, unless NO_COLOR is
/// set.
bool shows_bold(int descriptor) noexcept;

/// Prints a line "STAGE, N s" on stderr each time that a stage has lasted for another `period`. A
/// thread of its own does, because a factorisation returns only at its end.
class StageClock {
 public:
  explicit StageClock(std::chrono::milliseconds period);
  ~StageClock();

  /// A stage begins, and ends the one before. Empty: none follows.
  void begin(std::string_view stage);

 private:
  void tick();

  std::chrono::milliseconds period_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string stage_;
  Clock::time_point begun_{};
  Clock::time_point next_{};  // of the next line
  bool ends_ = false;
  std::thread thread_;  // the last member: it reads the others
};

/// Reports the stages of a run, such as "loading" and "factoring", and the iterations of a solve:
/// their number, converged pairs, worst residual, the factor by which it falls per iteration, and
/// time. The live line is never wider than the terminal, whose width is asked for at each change.
/// Plain lines are also written to the log file, and the begin of each stage to the log file alone.
class Progress {
 public:
  /// `period`: after which a stage that goes on is named, where there is no live line.
  explicit Progress(ProgressStyle style,
                    std::chrono::milliseconds period = std::chrono::seconds(10));
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
  std::optional<StageClock> stages_;  // of plain lines
  std::deque<double> recent_;         // worst residuals of the latest iterations
  Clock::time_point shown_at_{};
  double next_line_s_ = 0;  // the solve time at which the next line is due
  bool line_open_ = false;
};

}  // namespace heddle::apps
