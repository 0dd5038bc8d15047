#pragma once

#include <cub/block/block_scan.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>

/// Threads that work on one row together.
namespace heddle::detail {

inline constexpr unsigned kAllLanes = 0xffffffffU;

/// W neighbouring lanes of a warp, or a thread block of W = kThreads threads. Teams of one warp
/// pass through `sync`, `any` and `scan` together, so loops around these run as often for all of
/// them.
template <int W>
struct RowTeam {
  static_assert(W <= kWarp || W == kThreads);

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % W; }

  /// The number of this team in its thread block, and in the grid.
  __device__ static int in_block() { return static_cast<int>(threadIdx.x) / W; }
  __device__ static Index number() {
    return Index{blockIdx.x} * (static_cast<int>(blockDim.x) / W) + in_block();
  }

  __device__ static void sync() {
    if constexpr (W <= kWarp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  /// Whether the condition holds for a thread of any team that must stay together with this one.
  __device__ static bool any(bool condition) {
    if constexpr (W <= kWarp) {
      return __any_sync(kAllLanes, condition);
    } else {
      return __syncthreads_or(condition) != 0;
    }
  }

  /// The largest `value` of all teams that must stay together. All threads of a team have one
  /// value.
  __device__ static int largest(int value) {
    if constexpr (W <= kWarp) {
      return __reduce_max_sync(kAllLanes, value);
    } else {
      return value;
    }
  }

  /// The sum of the values of the threads of this team before this one. `total`: that of all.
  __device__ static int scan(int value, int& total) {
    if constexpr (W <= kWarp) {
      int sum = value;
      for (int step = 1; step < W; step *= 2) {
        const int before = __shfl_up_sync(kAllLanes, sum, step, W);
        if (lane() >= step) sum += before;
      }
      total = __shfl_sync(kAllLanes, sum, W - 1, W);
      return sum - value;
    } else {
      using Scan = cub::BlockScan<int, W>;
      __shared__ typename Scan::TempStorage storage;
      int sum = 0;
      Scan(storage).ExclusiveSum(value, sum, total);
      __syncthreads();
      return sum;
    }
  }
};

/// The sum of `value` over groups of W neighbouring lanes, for all of them.
template <int W, class Integer>
__device__ Integer lane_sum(Integer value) {
  for (int step = W / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step, W);
  return value;
}

/// Permits `kernel` to have thread blocks with `bytes` of shared memory.
template <class Kernel>
void allow_shared_memory(Kernel kernel, std::size_t bytes) {
  constexpr std::size_t kWithoutAsking =
      32 * 1024;  // in addition to what kernels declare themselves
  if (bytes <= kWithoutAsking) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)));
}

/// Launches `kernel` with `count` teams of W threads in blocks of `threads`, each team with `bytes`
/// of shared memory.
template <int W, class Kernel, class... Arguments>
void launch_teams(CUstream_st* stream, Kernel kernel, Index count, int threads, std::size_t bytes,
                  const Arguments&... arguments) {
  if (count == 0) return;
  const Index teams = threads / W;
  const std::size_t block_bytes = bytes * static_cast<std::size_t>(teams);
  allow_shared_memory(kernel, block_bytes);
  kernel<<<static_cast<unsigned>(ceil_div(count, teams)), static_cast<unsigned>(threads),
           block_bytes, stream>>>(arguments...);
  check_launch();
}

/// A column as a block of 32 columns and a bit in it.
inline constexpr int kBlockColumns = 32;
inline constexpr int kBlockShift = 5;
__device__ inline std::int32_t block_of(std::int32_t column) { return column >> kBlockShift; }
__device__ inline unsigned bit_of(std::int32_t column) {
  return 1U << (static_cast<unsigned>(column) % kBlockColumns);
}

/// The key of a place in a hash table that is free.
inline constexpr std::int32_t kFree = -1;

/// The first place of `key` in a table of `slots` places, a power of two above 1. Multiplicative
/// hashing: Knuth, The Art of Computer Programming 3, section 6.4.
__device__ inline unsigned first_place(std::int32_t key, unsigned slots) {
  constexpr unsigned kGoldenRatio = 0x9E3779B1U;
  return (static_cast<unsigned>(key) * kGoldenRatio) >> (__clz(static_cast<int>(slots)) + 1);
}

/// The place of `key` in the table, where it is entered if it is not there yet. The table is not
/// full.
__device__ inline unsigned enter_key(std::int32_t* keys, unsigned slots, std::int32_t key) {
  unsigned place = first_place(key, slots);
  for (;;) {
    const std::int32_t found = atomicCAS(keys + place, kFree, key);
    if (found == kFree || found == key) return place;
    place = (place + 1) & (slots - 1);
  }
}

}  // namespace heddle::detail
