#pragma once

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>

/// Shared by the kernels that make the levels of multigrid.
namespace heddle::detail {

inline constexpr unsigned kWholeWarp = 0xffffffffU;

/// Lanes that work on one row or node together.
inline constexpr int kTeam = 8;

/// The lane of a thread in its team, and the number of its team in the grid. A grid has as many
/// teams as `team_blocks` says, of which the last ones have nothing to do.
__device__ inline int team_lane() { return static_cast<int>(threadIdx.x) % kTeam; }
__device__ inline Index team_number() { return thread_index() / kTeam; }
inline unsigned team_blocks(Index teams) {
  return static_cast<unsigned>(ceil_div<Index>(teams, kThreads / kTeam));
}

/// Entries of one row, for its team: those of rows beyond the last one are none.
struct RowRange {
  Index begin = 0;
  Index end = 0;
};
__device__ inline RowRange row_range_of(const std::int64_t* offsets, Index row, Index rows) {
  return row < rows ? RowRange{offsets[row], offsets[row + 1]} : RowRange{};
}

/// The sum over the lanes of a team, in the order of a binary tree, for all of them. All lanes of a
/// warp take part.
template <class Value>
__device__ Value team_sum(Value value) {
  for (int step = kTeam / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kWholeWarp, value, step, kTeam);
  }
  return value;
}

/// The votes of the team of this thread, one bit per lane, from the votes of its warp.
__device__ inline unsigned team_votes(bool vote) {
  const unsigned votes = __ballot_sync(kWholeWarp, vote);
  return (votes >> (lane_index() / kTeam * kTeam)) & ((1U << kTeam) - 1);
}

/// The bits of a number that is not negative or NaN. They are ordered like the numbers, with NaN
/// above all, so that a maximum does not depend on the order in which it is found.
using NumberBits = unsigned long long;
__device__ inline NumberBits bits_of(double size) {
  return static_cast<NumberBits>(__double_as_longlong(fabs(size)));
}

/// *largest = max(*largest, own) over all threads. All lanes of a warp take part.
__device__ inline void take_largest(NumberBits own, NumberBits* largest) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    own = max(own, __shfl_xor_sync(kWholeWarp, own, step));
  }
  if (lane_index() == 0 && own > 0) atomicMax(largest, own);
}

/// A block by rows, as kernels take it: entry (i, j) at data[i·ld + j].
template <class Number>
struct DeviceRows {
  Number* data;
  Index rows;
  Index cols;
  Index ld;

  template <class View>
  explicit DeviceRows(const View& X) : data(X.data()), rows(X.rows()), cols(X.cols()), ld(X.ld()) {}
  DeviceRows(const DeviceRows&) = default;

  __device__ Number& operator()(Index i, Index j) const { return data[i * ld + j]; }
};

/// Zeros.
template <class T>
Buffer<T, DeviceSpace> zeros(CudaContext& context, Index count) {
  Buffer<T, DeviceSpace> made(context, static_cast<std::size_t>(count));
  if (count > 0) {
    check(cudaMemsetAsync(made.data(), 0, made.size() * sizeof(T), context.stream()));
  }
  return made;
}

template <class T>
T fetch_number(CudaContext& context, const T* number) {
  T value{};
  context.copy_to_host(&value, number, sizeof value);
  return value;
}

/// Launches a kernel of `blocks` thread blocks of kThreads.
template <class Kernel, class... Arguments>
void launch(CudaContext& context, unsigned blocks, Kernel kernel, const Arguments&... arguments) {
  if (blocks == 0) return;
  kernel<<<blocks, kThreads, 0, context.stream()>>>(arguments...);
  check_launch();
}

}  // namespace heddle::detail
