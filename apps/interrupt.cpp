#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/interrupt.hpp>
#include <string_view>

namespace heddle::apps {
namespace {

std::atomic<bool> deferring{false};
std::atomic<bool> signalled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "read and written in a signal handler");

extern "C" void handle_signal(int) {
  if (deferring && !signalled.exchange(true)) return;
  constexpr std::string_view kMessage = "\ninterrupted, no results written\n";
  // A failure is ignored, because a closed stderr leaves no way to report it.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void install_signal_handlers() noexcept {
  struct sigaction action {};
  action.sa_handler = handle_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptScope::InterruptScope() noexcept {
  signalled = false;
  deferring = true;
}

InterruptScope::~InterruptScope() { deferring = false; }

bool InterruptScope::requested() const noexcept { return signalled; }

}  // namespace heddle::apps
