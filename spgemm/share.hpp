#pragma once

#include <algorithm>

/// How work is shared between the host and a GPU that compute at the same time.
namespace heddle {

/// The time of one side for a part x of the work, in ms: slope·x + latency, where x = 1 is all of
/// it. A side without work takes no time.
struct SideCost {
  double slope = 0;
  double latency = 0;

  double ms() const noexcept { return slope + latency; }
};

/// The least part of its time that sharing must save: times vary, and both sides share the memory
/// of the host.
inline constexpr double kLeastGain = 0.1;

/// The costs of both sides while the other one works too, which shares the memory of the host, and
/// their times for all of the work alone.
struct SharedCosts {
  SideCost host;
  SideCost gpu;
  double host_alone_ms = 0;
  double gpu_alone_ms = 0;
};

/// The host's share x of the work, 0 … 1, with which both sides finish together:
/// x·host.slope + host.latency = (1 − x)·gpu.slope + gpu.latency. 1 or 0 if one side alone is
/// faster, or if sharing saves less than the part `least_gain` of its time. With times h and g of
/// the sides alone it cannot save more than the part min(h, g)/(h + g), whatever the costs say.
inline double balanced_share(const SharedCosts& costs, double least_gain = 0) noexcept {
  const auto& [host, gpu, host_alone_ms, gpu_alone_ms] = costs;
  const double alone = host_alone_ms <= gpu_alone_ms ? 1 : 0;
  if (!(host.slope + gpu.slope > 0)) return alone;
  const double share = (gpu.ms() - host.latency) / (host.slope + gpu.slope);
  const double together = share * host.slope + host.latency;
  const double faster = std::min(host_alone_ms, gpu_alone_ms);
  const bool pays = share > 0 && share < 1 && together <= (1 - least_gain) * faster &&
                    faster >= least_gain * (host_alone_ms + gpu_alone_ms);
  return pays ? share : alone;
}

}  // namespace heddle
