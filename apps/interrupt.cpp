#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/interrupt.hpp>

namespace heddle::apps {
namespace {

std::atomic<bool> deferring{false};
std::atomic<bool> requested_end{false};
std::atomic<bool> urged{false};  // by a first SIGINT or SIGTERM
std::atomic<const char*> kept_checkpoint{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free &&
                  std::atomic<const char*>::is_always_lock_free,
              "read and written in a signal handler");

/// Those that are handled in all cases. SIGHUP may have been ignored before.
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};

/// Writes to stderr. A failure is ignored, because a closed stderr leaves no way to report it.
void say(const char* text) noexcept {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void quit() noexcept {
  say("\ninterrupted, no results written\n");
  const char* checkpoint = kept_checkpoint;
  if (checkpoint != nullptr && access(checkpoint, F_OK) == 0) {
    say("the last checkpoint stays in ");
    say(checkpoint);
    say(": --resume goes on from it\n");
  }
  _exit(static_cast<int>(ExitCode::interrupted));
}

// Calls only functions that POSIX allows in a signal handler.
extern "C" void handle_signal(int number) {
  const int saved_error = errno;
  const bool urgent = number == SIGINT || number == SIGTERM;
  if (!deferring || (urgent && urged.exchange(true))) quit();
  const bool first = !requested_end.exchange(true);
  if (urgent) {
    say("\nstopping after this product; again to quit\n");
  } else if (first) {
    say("\nstopping after this product\n");
  }
  errno = saved_error;
}

}  // namespace

void install_signal_handlers() noexcept {
  struct sigaction action {};
  action.sa_handler = handle_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) sigaction(number, &action, nullptr);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

void ignore_signals() noexcept {
  for (const int number : kSignals) signal(number, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
}

InterruptScope::InterruptScope(const std::filesystem::path& checkpoint)
    : checkpoint_(checkpoint.string()) {
  if (!checkpoint_.empty()) kept_checkpoint = checkpoint_.c_str();
  requested_end = false;
  urged = false;
  deferring = true;
}

InterruptScope::~InterruptScope() {
  deferring = false;
  kept_checkpoint = nullptr;
}

bool InterruptScope::requested() const noexcept { return requested_end; }

}  // namespace heddle::apps
