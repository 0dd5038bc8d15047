#pragma once

#include <filesystem>
#include <string>

/// Handling of the signals by which a terminal, a user or a batch system ends a run.
///
/// | signal | outside of a scope | in a scope |
/// |---|---|---|
/// | SIGINT (Ctrl-C), SIGTERM | the process ends at once | the first asks for the end, the second
/// ends the process at once | | SIGHUP, SIGUSR1, SIGUSR2 | the process ends at once | each asks for
/// the end |
///
/// The answer to each is a line on stderr, written by the handler itself.
namespace heddle::apps {

/// During the lifetime of an InterruptScope, signals ask a solve for its end by a flag that the
/// solve polls, so that the run ends with results. A process that ends at once has the exit code
/// `ExitCode::interrupted`. Only one scope may exist at a time.
class InterruptScope {
 public:
  /// `checkpoint`: the file that outlives a process that ends at once. Empty: none is kept.
  explicit InterruptScope(const std::filesystem::path& checkpoint);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether a signal has arrived since the scope began.
  bool requested() const noexcept;

 private:
  std::string checkpoint_;
};

/// Installs the handlers of all five signals. Call it once, at the start of `main`. A SIGHUP that
/// is ignored at that time, as under nohup, stays ignored.
void install_signal_handlers() noexcept;

/// Ignores the five signals from now on, for a process that another one tells when to end. A
/// launcher may send them to all of its processes.
void ignore_signals() noexcept;

}  // namespace heddle::apps
