#pragma once

#include <heddle/drivers/plan/machine.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/linalg/context/context.hpp>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#endif
#include <string_view>

namespace heddle::detail {

/// Estimated peak memory of a solve in bytes, with the problem.
struct MemoryEstimate {
  double device = 0;  ///< in the memory of the device that solves
  double host = 0;    ///< in host memory. The same number if the host is that device
};

/// The estimate for solving a problem by `request`, whose method has been chosen, with the
/// preconditioner of `plan`, on the host or on a GPU. For n ≥ 1000 it is between 0.9 times and
/// twice the peak of the context's allocations. The scratch memory of sums over rows is not
/// included. For an interval, the estimate assumes the most columns that nev allows. A sparse
/// factor, and a dense solve that replaces a costly iteration, are not included: they take at most
/// a quarter of the memory. The data that GPU kernels keep in addition to a matrix count as another
/// copy of it. Of several processes, this is the estimate for process 0, if all have equal shares.
MemoryEstimate estimate_memory(const Facts& facts, const Request& request,
                               const PreconditionerPlan& plan, bool on_gpu);

/// Throws `OutOfMemory` if `estimate` is more than the machine has.
void check_memory(const MemoryEstimate& estimate, const Request& request, const Machine& machine);

/// Advice in messages about too little memory.
inline constexpr std::string_view kFewerPairs = "ask for fewer eigenpairs or a smaller block";
inline constexpr std::string_view kFewerRightHandSides = "ask for fewer right-hand sides";

/// Throws `OutOfMemory` if `bytes` of host memory are more than this process may use.
void require_host_memory(double bytes, std::string_view advice);

/// Throws `OutOfMemory` with both numbers and `advice` if `bytes` > `available`. The message names
/// `owner` as the owner of the available bytes.
void require_memory(double bytes, double available, std::string_view owner,
                    std::string_view advice);

/// Bytes of host memory that this process may use: those of the machine, or fewer by the limits of
/// its control group and of `ulimit`.
double host_memory_bytes();

/// Bytes of memory that a solve in `context` may use, see `Device::memory_bytes`.
double memory_bytes(const HostContext& context);
#ifdef HEDDLE_HAS_CUDA
double memory_bytes(const CudaContext& context);
#endif

/// The part of `memory_bytes` that this process does not use now.
double unused_bytes(const HostContext& context);
#ifdef HEDDLE_HAS_CUDA
double unused_bytes(const CudaContext& context);
#endif

/// The share of memory that one sparse factor, or a dense solve in place of a costly iteration, may
/// take.
inline constexpr double kFactorShare = 0.25;

/// The bytes that a sparse factor may take in addition to a solver that is to take `solver` bytes:
/// `kFactorShare` of all `memory`, if `unused` bytes of it leave that much.
double factor_budget(double memory, double unused, double solver) noexcept;

}  // namespace heddle::detail
