#pragma once

#include <heddle/drivers/device.hpp>

namespace heddle::detail {

/// Bytes that solving a problem will hold at its peak, the problem included.
struct MemoryEstimate {
  double device = 0;  ///< in the memory of the device that solves
  double host = 0;    ///< in host memory; the same number where the host is that device
};

/// What solving `problem` as `request`, its method chosen, says takes, on the host or on a GPU: at
/// least 0.9 times the peak of the allocations of the context, at most twice that, for n ≥ 1000.
/// The scratch of sums over rows is left out; an interval counts with the most columns that nev
/// allows; what the kernels of a GPU keep beside a matrix counts as another copy of it.
MemoryEstimate estimate_memory(const Problem& problem, const Request& request, bool on_gpu);

/// Throws `OutOfMemory` if `estimate` is more than the device or the host has.
void check_memory(const MemoryEstimate& estimate, const Request& request, const Device& device);

/// What asks for less memory.
inline constexpr std::string_view kFewerPairs = "ask for fewer eigenpairs or a smaller block";
inline constexpr std::string_view kFewerRightHandSides = "ask for fewer right-hand sides";

/// Throws `OutOfMemory` with both numbers and `advice` if `bytes`, needed, are more than
/// `available` to `owner`.
void require_memory(double bytes, double available, std::string_view owner,
                    std::string_view advice);

}  // namespace heddle::detail
