#pragma once

#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/repeated_rows.hpp>

namespace heddle::detail {

/// The chunk of a run that row i belongs to.
struct Chunk {
  Index first;
  Index rows;
};

__device__ inline Chunk chunk_of(const std::int32_t* leaders, Index rows, Index i) {
  const std::int32_t leader = leaders[i];
  const Index first = leader + (i - leader) / kWarp * kWarp;
  const Index most = rows - first < kWarp ? rows - first : Index{kWarp};
  return {first, count_below(leaders + first, most, leader + 1)};
}

}  // namespace heddle::detail
