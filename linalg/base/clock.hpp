#pragma once

#include <chrono>

namespace heddle {

using Clock = std::chrono::steady_clock;

/// The time from `begin` until now, in seconds.
inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The same in milliseconds.
inline double milliseconds_since(Clock::time_point begin) { return 1e3 * seconds_since(begin); }

}  // namespace heddle
