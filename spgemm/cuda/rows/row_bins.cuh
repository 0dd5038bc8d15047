#pragma once

#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/rows/row_bins.hpp>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

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

  /// The counts of this thread in addition to rows, see `BinCounts`.
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

/// Writes the numbers of the rows 0 … `rows` − 1 to the places of their bins in `collected`, the
/// last ones first: in many graphs later rows are longer, and longer rows should begin first.
/// bins[i]: the bin of row i, `count` for none. All thread blocks of a grid call it, with the rows
/// per bin in `counts`, of which none was taken.
__device__ inline void collect_rows(const std::int32_t* bins, Index rows, int count,
                                    BinCounts* counts, std::int32_t* collected) {
  __shared__ unsigned here[kMostBins];
  __shared__ unsigned long long ends[kMostBins];
  __shared__ unsigned long long places[kMostBins];
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    unsigned long long end = 0;
    for (int bin = 0; bin < count; ++bin) {
      end += counts->rows[bin];
      ends[bin] = end;
    }
  }
  for (Index first = Index{blockIdx.x} * kThreads; first < rows; first += thread_count()) {
    if (thread < kMostBins) here[thread] = 0;
    __syncthreads();
    const Index i = first + thread;
    const int bin = i < rows ? bins[i] : count;
    const unsigned rank = bin < count ? atomicAdd(here + bin, 1U) : 0;
    __syncthreads();
    if (thread < count && here[thread] > 0) {
      const unsigned long long added = here[thread];
      places[thread] = ends[thread] - added - atomicAdd(counts->taken + thread, added);
    }
    __syncthreads();
    if (bin < count) collected[places[bin] + rank] = static_cast<std::int32_t>(i);
    __syncthreads();
  }
}

}  // namespace heddle::detail
