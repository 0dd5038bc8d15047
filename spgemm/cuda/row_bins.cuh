#pragma once

#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/row_bins.hpp>
#include <heddle/spgemm/cuda/row_team.cuh>

namespace heddle::detail {

/// The counts of a thread block, which it adds to those in device memory at its end: few additions
/// at one address. All threads of the block construct it and call `flush`. `shared`: kMostBins
/// integers in shared memory.
class BlockCounts {
 public:
  __device__ explicit BlockCounts(unsigned* shared) : rows_(shared) {
    if (threadIdx.x < kMostBins) rows_[threadIdx.x] = 0;
    __syncthreads();
  }

  __device__ void count(int bin) { atomicAdd(rows_ + bin, 1U); }
  __device__ void add(Index number) { total_ += number; }

  __device__ void flush(BinCounts* counts) {
    __syncthreads();
    if (threadIdx.x < kMostBins && rows_[threadIdx.x] != 0) {
      atomicAdd(counts->rows + threadIdx.x, static_cast<unsigned long long>(rows_[threadIdx.x]));
    }
    const Index total = lane_sum<kWarp>(total_);
    if (lane_index() == 0 && total != 0) {
      atomicAdd(&counts->total, static_cast<unsigned long long>(total));
    }
  }

 private:
  unsigned* rows_;
  Index total_ = 0;
};

}  // namespace heddle::detail
