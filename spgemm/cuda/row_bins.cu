#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spgemm/cuda/row_bins.cuh>

namespace heddle::detail {
namespace {

/// Where the rows of each bin begin.
struct BinPlaces {
  unsigned long long begins[kMostBins];
};

/// `left`: how many rows of each bin have no place yet. They are dealt out from the end.
__global__ void collect_kernel(const std::int32_t* bins, Index rows, int count, BinPlaces places,
                               unsigned long long* left, std::int32_t* collected) {
  __shared__ unsigned counts[kMostBins];
  __shared__ unsigned long long begins[kMostBins];
  const int thread = static_cast<int>(threadIdx.x);
  for (Index first = Index{blockIdx.x} * kThreads; first < rows; first += thread_count()) {
    if (thread < kMostBins) counts[thread] = 0;
    __syncthreads();
    const Index i = first + thread;
    const int bin = i < rows ? bins[i] : count;
    const unsigned rank = bin < count ? atomicAdd(counts + bin, 1U) : 0;
    __syncthreads();
    if (thread < count && counts[thread] > 0) {
      const unsigned long long taken = counts[thread];
      begins[thread] = places.begins[thread] + atomicAdd(left + thread, 0 - taken) - taken;
    }
    __syncthreads();
    if (bin < count) collected[begins[bin] + rank] = static_cast<std::int32_t>(i);
    __syncthreads();
  }
}

}  // namespace

Buffer<BinCounts, DeviceSpace> no_counts(CudaContext& context) {
  Buffer<BinCounts, DeviceSpace> counts(context, 1);
  check(cudaMemsetAsync(counts.data(), 0, sizeof(BinCounts), context.stream()));
  return counts;
}

RowBins collect_bins(CudaContext& context, const DeviceIntegers& bins, int count,
                     Buffer<BinCounts, DeviceSpace>& counted, BinCounts& counts) {
  context.copy_to_host(&counts, counted.data(), sizeof counts);
  RowBins result;
  BinPlaces places{};
  for (int bin = 0; bin < count; ++bin) {
    places.begins[bin] = static_cast<unsigned long long>(result.begins.back());
    result.begins.push_back(result.begins.back() + static_cast<Index>(counts.rows[bin]));
  }
  result.rows = DeviceIntegers(context, static_cast<std::size_t>(result.begins.back()));
  if (result.rows.size() == 0) return result;
  const auto rows = static_cast<Index>(bins.size());
  collect_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(
      bins.data(), rows, count, places, counted.data()->rows, result.rows.data());
  check_launch();
  return result;
}

}  // namespace heddle::detail
