#pragma once

#include <heddle/drivers/device.hpp>

namespace heddle::detail {

/// Estimated peak memory of a solve in bytes, with the problem.
struct MemoryEstimate {
  double device = 0;  ///< in the memory of the device that solves
  double host = 0;    ///< in host memory. The same number if the host is that device
};

/// The estimate for solving `problem` by `request`, whose method has been chosen, on the host or on
/// a GPU. For n ≥ 1000 it is between 0.9 times and twice the peak of the context's allocations. The
/// scratch memory of sums over rows is not included. For an interval, the estimate assumes the most
/// columns that nev allows. A sparse factor, and a dense solve that replaces a costly iteration,
/// are not included: they take at most a quarter of the memory. The data that GPU kernels keep
/// beside a matrix count as another copy of the matrix. Of several processes, this is the estimate
/// for process 0, if all have equal shares.
MemoryEstimate estimate_memory(const Problem& problem, const Request& request, bool on_gpu);

/// Throws `OutOfMemory` if `estimate` is more than the device or the host has.
void check_memory(const MemoryEstimate& estimate, const Request& request, const Device& device);

/// Advice in messages about too little memory.
inline constexpr std::string_view kFewerPairs = "ask for fewer eigenpairs or a smaller block";
inline constexpr std::string_view kFewerRightHandSides = "ask for fewer right-hand sides";

/// Throws `OutOfMemory` if `bytes` of host memory are more than this process may use.
void require_host_memory(double bytes, std::string_view advice);

/// Throws `OutOfMemory` with both numbers and `advice` if `bytes` > `available`. The message names
/// `owner` as the owner of the available bytes.
void require_memory(double bytes, double available, std::string_view owner,
                    std::string_view advice);

}  // namespace heddle::detail
