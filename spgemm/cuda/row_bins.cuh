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

  /// What this thread has counted beside rows, see `BinCounts`.
  Index multiplications = 0;
  Index leading_products = 0;
  Index leading_blocks = 0;
  Index longest = 0;

  __device__ void flush(BinCounts* counts) {
    __syncthreads();
    if (threadIdx.x < kMostBins && rows_[threadIdx.x] != 0) {
      atomicAdd(counts->rows + threadIdx.x, static_cast<unsigned long long>(rows_[threadIdx.x]));
    }
    add_sum(multiplications, &counts->multiplications);
    add_sum(leading_products, &counts->leading_products);
    add_sum(leading_blocks, &counts->leading_blocks);
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const Index other = __shfl_xor_sync(kAllLanes, longest, step);
      longest = other > longest ? other : longest;
    }
    if (lane_index() == 0 && longest > 0) {
      atomicMax(&counts->longest, static_cast<unsigned long long>(longest));
    }
  }

 private:
  __device__ static void add_sum(Index number, unsigned long long* target) {
    const Index sum = lane_sum<kWarp>(number);
    if (lane_index() == 0 && sum > 0) atomicAdd(target, static_cast<unsigned long long>(sum));
  }

  unsigned* rows_;
};

}  // namespace heddle::detail
