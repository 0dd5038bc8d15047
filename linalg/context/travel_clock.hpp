#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <heddle/linalg/base/profile.hpp>

namespace heddle {

/// Times the exchanges between processes on a stream of their own, by an event at the begin and the
/// end of each. The events are read later, as those of a `PhaseClock`.
class TravelClock {
 public:
  /// Throws `DeviceError`.
  explicit TravelClock(cudaStream_t stream);
  ~TravelClock();
  TravelClock(const TravelClock&) = delete;
  TravelClock& operator=(const TravelClock&) = delete;

  /// Records the begin of an exchange of which this process sends `bytes`.
  void begin(double bytes, Profile& profile) noexcept;

  /// Records the end of the exchange, and returns the event.
  cudaEvent_t end() noexcept;

  /// Adds all exchanges to `profile`. The stream must have passed them.
  void read(Profile& profile) noexcept;

 private:
  static constexpr std::size_t kExchanges = 256;

  struct Exchange {
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    double bytes = 0;
  };

  void read_oldest(Profile& profile) noexcept;

  cudaStream_t stream_;
  std::array<Exchange, kExchanges> exchanges_{};
  std::size_t first_ = 0;  ///< exchanges first_ … last_ − 1 are unread
  std::size_t last_ = 0;
};

}  // namespace heddle
