#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spgemm/cuda/row_bins.cuh>

namespace heddle::detail {
namespace {

/// Where the next row of each bin is to be written.
struct BinPlaces {
  unsigned long long next[kMostBins];
};

__global__ void collect_kernel(const std::int32_t* bins, Index rows, int count, BinPlaces* places,
                               std::int32_t* collected) {
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
      begins[thread] =
          atomicAdd(places->next + thread, static_cast<unsigned long long>(counts[thread]));
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
                     const Buffer<BinCounts, DeviceSpace>& counted, Index& total) {
  BinCounts counts{};
  context.copy_to_host(&counts, counted.data(), sizeof counts);
  total = static_cast<Index>(counts.total);
  RowBins result;
  BinPlaces places{};
  for (int bin = 0; bin < count; ++bin) {
    places.next[bin] = static_cast<unsigned long long>(result.begins.back());
    result.begins.push_back(result.begins.back() + static_cast<Index>(counts.rows[bin]));
  }
  result.rows = DeviceIntegers(context, static_cast<std::size_t>(result.begins.back()));
  if (result.rows.size() == 0) return result;
  Buffer<BinPlaces, DeviceSpace> next(context, 1);
  context.copy_to_device(next.data(), &places, sizeof places);
  const auto rows = static_cast<Index>(bins.size());
  collect_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(
      bins.data(), rows, count, next.data(), result.rows.data());
  check_launch();
  return result;
}

}  // namespace heddle::detail
