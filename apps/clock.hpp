#pragma once

#include <chrono>

namespace heddle::apps {

using Clock = std::chrono::steady_clock;

/// The time from `begin` until now, in seconds.
inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace heddle::apps
