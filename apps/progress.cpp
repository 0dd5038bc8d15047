#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <heddle/apps/progress.hpp>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

namespace heddle::apps {
namespace {

constexpr std::size_t kRateWindow = 10;  // iterations over which the rate is averaged
constexpr double kLineSeconds = 2;       // least seconds of solving between plain lines
constexpr double kMaxLineSeconds = 60;   // most seconds of solving between plain lines
constexpr double kLineShare = 0.05;  // between these limits: the fraction of the solve time so far
constexpr auto kLiveInterval = std::chrono::milliseconds(100);
constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

/// Whether the stream of this descriptor is a terminal that knows control sequences.
bool is_terminal(int descriptor) noexcept {
  const char* terminal = std::getenv("TERM");
  const bool capable = terminal != nullptr && std::string_view(terminal) != "dumb";
  return capable && isatty(descriptor) == 1;
}

/// The columns of the terminal on stderr that a line may fill. The last one stays free, because
/// some terminals begin a new line after it.
std::size_t terminal_width() noexcept {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (known ? size.ws_col : kUsual) - 1;
}

/// The first `width` characters of UTF-8 text, control characters replaced.
std::string fitted(std::string_view text, std::size_t width) {
  constexpr unsigned kContinuation = 0x80;
  std::string result;
  std::size_t characters = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0u) != kContinuation && ++characters > width) break;
    result.push_back(byte < 0x20 || byte == 0x7f ? '?' : c);
  }
  return result;
}

}  // namespace

ProgressStyle progress_style(bool quiet) noexcept {
  if (quiet) return ProgressStyle::silent;
  return is_terminal(STDERR_FILENO) ? ProgressStyle::live : ProgressStyle::lines;
}

bool shows_bold(int descriptor) noexcept {
  const char* plain = std::getenv("NO_COLOR");
  return (plain == nullptr || *plain == '\0') && is_terminal(descriptor);
}

StageClock::StageClock(std::chrono::milliseconds period)
    : period_(period), thread_([this] { tick(); }) {}

StageClock::~StageClock() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StageClock::begin(std::string_view stage) {
  {
    const std::lock_guard lock(mutex_);
    if (stage.empty() && stage_.empty()) return;
    stage_ = stage;
    begun_ = Clock::now();
    next_ = begun_ + period_;
  }
  changed_.notify_one();
}

void StageClock::tick() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (stage_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_until(lock, next_);
    if (ends_ || stage_.empty() || Clock::now() < next_) continue;
    next_ += period_;
    const std::string line =
        fmt::format("{}, {:.0f} s\n", fitted(stage_, kAnyWidth), seconds_since(begun_));
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  }
}

Progress::Progress(ProgressStyle style, std::chrono::milliseconds period) : style_(style) {
  if (style == ProgressStyle::lines) stages_.emplace(period);
}

void Progress::update_rate(const IterationRecord& record) {
  recent_.push_back(record.worst_residual);
  if (recent_.size() > kRateWindow + 1) recent_.pop_front();
}

std::string Progress::line(const MonitorState& state, std::size_t width) const {
  enum Part : std::size_t { kCounts, kResidual, kRate, kTime };
  const IterationRecord& record = state.record;
  std::vector<std::string> parts = {
      fmt::format("iteration {}: {} of {} converged", record.iteration, record.converged,
                  state.nev),
      std::isfinite(record.worst_residual)
          ? fmt::format(", worst residual {:.1e}", record.worst_residual)
          : "",
      "", fmt::format(", {:.1f} s", record.seconds)};
  if (recent_.size() > 1 && recent_.front() > 0) {
    const auto steps = static_cast<double>(recent_.size() - 1);
    parts[kRate] =
        fmt::format(", rate {:.2f}", std::pow(recent_.back() / recent_.front(), 1 / steps));
  }
  const auto whole = [&parts] {
    return std::accumulate(parts.begin(), parts.end(), std::string());
  };
  for (const Part dropped : {kRate, kTime, kResidual}) {
    if (whole().size() <= width) break;
    parts[dropped].clear();
  }
  return fitted(whole(), width);
}

/// Plain lines belong on stderr, or, where stderr shows the live line, in the log file alone.
void Progress::show_line(const MonitorState& state) {
  const double seconds = state.record.seconds;
  if (seconds < next_line_s_) return;
  next_line_s_ = seconds + std::clamp(kLineShare * seconds, kLineSeconds, kMaxLineSeconds);
  spdlog::log(style_ == ProgressStyle::live ? spdlog::level::trace : spdlog::level::info,
              line(state, kAnyWidth));
}

void Progress::show(const MonitorState& state) {
  if (stages_) stages_->begin("");
  update_rate(state.record);
  show_line(state);
  if (style_ != ProgressStyle::live) return;
  const Clock::time_point now = Clock::now();
  if (line_open_ && now - shown_at_ < kLiveInterval) return;
  shown_at_ = now;
  rewrite(line(state, terminal_width()));
}

void Progress::begin_stage(std::string_view name) {
  spdlog::trace(name);
  if (stages_) stages_->begin(name);
  if (style_ == ProgressStyle::live) rewrite(fitted(name, terminal_width()));
}

void Progress::rewrite(const std::string& text) {
  line_open_ = true;
  const std::string whole = std::string(kClearLine) + text;
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

void Progress::clear() noexcept {
  if (stages_) stages_->begin("");
  if (line_open_) std::fwrite(kClearLine.data(), 1, kClearLine.size(), stderr);
  line_open_ = false;
}

}  // namespace heddle::apps
