#include <nvtx3/nvToolsExt.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/phase_clock.hpp>

namespace heddle {

PhaseClock::PhaseClock(cudaStream_t stream) : stream_(stream) {
  for (cudaEvent_t& event : events_) check(cudaEventCreate(&event));
  check(cudaEventRecord(events_[0], stream_));
  phases_[0] = Phase::other;
  last_ = 1;
  nvtxRangePushA(phase_name(Phase::other).data());
}

PhaseClock::~PhaseClock() {
  nvtxRangePop();
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
}

// A failed call here is a failure of the stream, which the next checked call reports.
void PhaseClock::mark(Phase phase, Profile& profile) noexcept {
  nvtxRangePop();
  nvtxRangePushA(phase_name(phase).data());
  if (last_ - first_ == kEvents) {
    cudaEventSynchronize(events_[(first_ + 1) % kEvents]);
    read_oldest(profile);
  }
  const std::size_t slot = last_++ % kEvents;
  cudaEventRecord(events_[slot], stream_);
  phases_[slot] = phase;
}

void PhaseClock::read(Profile& profile) noexcept {
  while (last_ - first_ > 1) read_oldest(profile);
}

void PhaseClock::read_oldest(Profile& profile) noexcept {
  const std::size_t slot = first_++ % kEvents;
  float milliseconds = 0;
  if (cudaEventElapsedTime(&milliseconds, events_[slot], events_[first_ % kEvents]) ==
      cudaSuccess) {
    profile.add_seconds(phases_[slot], 1e-3 * static_cast<double>(milliseconds));
  }
}

}  // namespace heddle
