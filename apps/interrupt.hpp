#pragma once

/// SIGINT (Ctrl-C) and SIGTERM.
namespace heddle::apps {

/// While one lives, the first signal only sets a flag that a solver's monitor reads, so that the
/// run ends with results. Outside it, and for a second signal, the process exits at once with
/// `ExitCode::interrupted` and one line on stderr. At most one at a time.
class InterruptScope {
 public:
  InterruptScope() noexcept;
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether a signal came since the scope began.
  bool requested() const noexcept;
};

/// Takes over both signals. Once, at the start of `main`.
void install_signal_handlers() noexcept;

}  // namespace heddle::apps
