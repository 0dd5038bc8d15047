#pragma once

#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/repeated_rows.hpp>

namespace heddle::detail {

/// A chunk of a run has one row per lane of a warp. With fewer rows than this it is no faster than
/// its rows one by one.
inline constexpr Index kLeastChunk = 12;

/// Longer rows of C leave too few chunks in shared memory.
inline constexpr Index kMostRunEntries = 256;

/// The chunk of a run that row i belongs to.
struct Chunk {
  Index first;
  Index rows;

  /// Whether the rows of the chunk are computed together. Each has `entries` entries.
  __device__ bool is_computed(Index entries) const {
    return rows >= kLeastChunk && entries > 0 && entries <= kMostRunEntries;
  }
};

__device__ inline Chunk chunk_of(const std::int32_t* leaders, Index rows, Index i) {
  const std::int32_t leader = leaders[i];
  const Index first = leader + (i - leader) / kWarp * kWarp;
  const Index most = rows - first < kWarp ? rows - first : Index{kWarp};
  return {first, count_below(leaders + first, most, leader + 1)};
}

}  // namespace heddle::detail
