#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/travel_clock.hpp>

namespace heddle {

TravelClock::TravelClock(cudaStream_t stream) : stream_(stream) {
  for (Exchange& exchange : exchanges_) {
    check(cudaEventCreate(&exchange.begin));
    check(cudaEventCreate(&exchange.end));
  }
}

TravelClock::~TravelClock() {
  for (const Exchange& exchange : exchanges_) {
    if (exchange.begin != nullptr) cudaEventDestroy(exchange.begin);
    if (exchange.end != nullptr) cudaEventDestroy(exchange.end);
  }
}

// A failed call here is a failure of the stream, which the next checked call reports.
void TravelClock::begin(double bytes, Profile& profile) noexcept {
  if (last_ - first_ == kExchanges) {
    cudaEventSynchronize(exchanges_[first_ % kExchanges].end);
    read_oldest(profile);
  }
  Exchange& exchange = exchanges_[last_ % kExchanges];
  exchange.bytes = bytes;
  cudaEventRecord(exchange.begin, stream_);
}

cudaEvent_t TravelClock::end() noexcept {
  const cudaEvent_t event = exchanges_[last_++ % kExchanges].end;
  cudaEventRecord(event, stream_);
  return event;
}

void TravelClock::read(Profile& profile) noexcept {
  while (first_ < last_) read_oldest(profile);
}

void TravelClock::read_oldest(Profile& profile) noexcept {
  const Exchange& exchange = exchanges_[first_++ % kExchanges];
  float milliseconds = 0;
  if (cudaEventElapsedTime(&milliseconds, exchange.begin, exchange.end) == cudaSuccess) {
    profile.add_travel(1e-3 * static_cast<double>(milliseconds), exchange.bytes);
  }
}

}  // namespace heddle
