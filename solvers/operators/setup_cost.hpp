#pragma once

#include <chrono>
#include <cstddef>

namespace heddle {

/// The cost of setting up a preconditioner: the time in seconds, and the bytes of the context's
/// memory that the preconditioner keeps. Both are 0 until `stop`.
class SetupCost {
 public:
  /// No cost.
  SetupCost() = default;

  /// Starts the measurement.
  template <class Ctx>
  explicit SetupCost(const Ctx& context)
      : begin_(std::chrono::steady_clock::now()), before_(context.allocation_count().live_bytes) {}

  /// Ends the measurement, after all queued work is done.
  template <class Ctx>
  void stop(Ctx& context) {
    context.synchronize();
    bytes_ = context.allocation_count().live_bytes - before_;
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  double seconds() const noexcept { return seconds_; }
  std::size_t bytes() const noexcept { return bytes_; }  ///< of the context's memory

 private:
  std::chrono::steady_clock::time_point begin_{};
  std::size_t before_ = 0;  // bytes held at the start
  std::size_t bytes_ = 0;
  double seconds_ = 0;
};

}  // namespace heddle
