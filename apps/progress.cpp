#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <heddle/apps/progress.hpp>
#include <string_view>

namespace heddle::apps {
namespace {

constexpr std::size_t kRateWindow = 10;  // iterations over which the rate is averaged
constexpr double kLineSeconds = 2;       // least seconds of solving between plain lines
constexpr double kMaxLineSeconds = 60;   // most seconds of solving between plain lines
constexpr double kLineShare = 0.05;  // between these limits: the fraction of the solve time so far
constexpr auto kLiveInterval = std::chrono::milliseconds(100);
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

ProgressStyle progress_style(bool quiet) noexcept {
  if (quiet) return ProgressStyle::silent;
  const char* terminal = std::getenv("TERM");
  const bool capable = terminal != nullptr && std::string_view(terminal) != "dumb";
  return capable && isatty(STDERR_FILENO) == 1 ? ProgressStyle::live : ProgressStyle::lines;
}

Progress::~Progress() {
  if (line_open_) std::fwrite(kClearLine.data(), 1, kClearLine.size(), stderr);
}

void Progress::update_rate(const IterationRecord& record) {
  recent_.push_back(record.worst_residual);
  if (recent_.size() > kRateWindow + 1) recent_.pop_front();
}

std::string Progress::line(const MonitorState& state) const {
  const IterationRecord& record = state.record;
  std::string rate;
  if (recent_.size() > 1 && recent_.front() > 0) {
    rate = fmt::format(", rate {:.2f}", std::pow(recent_.back() / recent_.front(),
                                                 1.0 / static_cast<double>(recent_.size() - 1)));
  }
  return fmt::format("iteration {}: {} of {} converged, worst residual {:.1e}{}, {:.1f} s",
                     record.iteration, record.converged, state.nev, record.worst_residual, rate,
                     record.seconds);
}

void Progress::show_line(const MonitorState& state) {
  const double seconds = state.record.seconds;
  if (seconds < next_line_s_) return;
  next_line_s_ = seconds + std::clamp(kLineShare * seconds, kLineSeconds, kMaxLineSeconds);
  spdlog::info(line(state));
}

void Progress::show(const MonitorState& state) {
  update_rate(state.record);
  switch (style_) {
    case ProgressStyle::silent:
      return;
    case ProgressStyle::lines:
      show_line(state);
      return;
    case ProgressStyle::live:
      break;
  }
  const Clock::time_point now = Clock::now();
  if (line_open_ && now - shown_at_ < kLiveInterval) return;
  shown_at_ = now;
  line_open_ = true;
  const std::string text = std::string(kClearLine) + line(state);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace heddle::apps
