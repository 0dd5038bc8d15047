#pragma once

#include <algorithm>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/views.hpp>

/// Shared by the kernels that read or build sparse matrices.
namespace heddle::detail {

/// The number of thread blocks for `threads` threads that each take one step, or several where that
/// would be more blocks than the device can hold.
inline unsigned grid_for(const CudaContext& context, Index threads) {
  constexpr Index kBlocksPerMultiprocessor = 16;
  const Index most = kBlocksPerMultiprocessor * context.device().multiprocessors;
  return static_cast<unsigned>(std::clamp<Index>(ceil_div<Index>(threads, kThreads), 1, most));
}

/// The number of this thread in the grid, and the number of threads there are.
__device__ inline Index thread_index() { return Index{blockIdx.x} * kThreads + threadIdx.x; }
__device__ inline Index thread_count() { return Index{gridDim.x} * kThreads; }

/// The number of this thread in its warp.
__device__ inline int lane_index() { return static_cast<int>(threadIdx.x) % kWarp; }

/// *sum += the values of all lanes of a warp. Sums of integers do not depend on their order.
__device__ inline void add_of_warp(Index value, Index* sum) {
  constexpr unsigned kAllLanes = 0xffffffffU;
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  if (threadIdx.x % 32 == 0 && value > 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
  }
}

/// The number of the first `count` numbers, which ascend, that are below `value`.
template <class Integer, class Count, class Value>
__device__ Count count_below(const Integer* numbers, Count count, Value value) {
  Count first = 0;
  while (first < count) {
    const Count middle = first + (count - first) / 2;
    if (numbers[middle] < value) {
      first = middle + 1;
    } else {
      count = middle;
    }
  }
  return first;
}

/// The position of A(i, column) among the entries of A, -1 if it is not stored.
template <class T>
__device__ std::int64_t entry_place(const CsrView<T, DeviceSpace>& A, Index i, Index column) {
  const std::int64_t end = A.row_offsets[i + 1];
  const std::int64_t place =
      A.row_offsets[i] + count_below(A.columns + A.row_offsets[i], end - A.row_offsets[i], column);
  return place < end && A.columns[place] == column ? place : -1;
}

}  // namespace heddle::detail
