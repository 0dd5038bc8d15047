#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <heddle/linalg/base/profile.hpp>

namespace heddle {

/// Times phases on a stream by an event at each change of phase. The events are read later, so that
/// the host never waits for the device because of the timing.
class PhaseClock {
 public:
  /// Opens `Phase::other`. Throws `DeviceError`.
  explicit PhaseClock(cudaStream_t stream);
  ~PhaseClock();
  PhaseClock(const PhaseClock&) = delete;
  PhaseClock& operator=(const PhaseClock&) = delete;

  /// Records the start of `phase` on the stream. It waits only if `kEvents` changes of phase have
  /// not been read yet, and then for the oldest one.
  void mark(Phase phase, Profile& profile) noexcept;

  /// Adds the times between all recorded events to `profile`. The stream must have passed them.
  void read(Profile& profile) noexcept;

 private:
  static constexpr std::size_t kEvents = 1024;

  void read_oldest(Profile& profile) noexcept;

  cudaStream_t stream_;
  std::array<cudaEvent_t, kEvents> events_{};
  std::array<Phase, kEvents> phases_{};
  std::size_t first_ = 0;  ///< marks first_ … last_ − 1 are unread, mark i in slot i mod kEvents
  std::size_t last_ = 0;
};

}  // namespace heddle
