#pragma once

/// Handling of SIGINT (Ctrl-C) and SIGTERM.
namespace heddle::apps {

/// During the lifetime of an InterruptScope, the first signal only sets a flag, which a solver's
/// monitor reads, so that the run ends with results. Outside of a scope, and for a second signal,
/// the process exits at once with `ExitCode::interrupted` and one line on stderr. Only one scope
/// may exist at a time.
class InterruptScope {
 public:
  InterruptScope() noexcept;
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether a signal has arrived since the scope began.
  bool requested() const noexcept;
};

/// Installs the handlers of both signals. Call it once, at the start of `main`.
void install_signal_handlers() noexcept;

}  // namespace heddle::apps
