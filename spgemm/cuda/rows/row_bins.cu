#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spgemm/cuda/rows/row_bins.cuh>

namespace heddle::detail {
namespace {

__global__ void collect_kernel(const std::int32_t* bins, Index rows, int count, BinCounts* counts,
                               std::int32_t* collected) {
  collect_rows(bins, rows, count, counts, collected);
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
  result.divide(counts, count);
  result.rows = DeviceIntegers(context, static_cast<std::size_t>(result.begins.back()));
  if (result.rows.size() == 0) return result;
  const auto rows = static_cast<Index>(bins.size());
  collect_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(
      bins.data(), rows, count, counted.data(), result.rows.data());
  check_launch();
  return result;
}

}  // namespace heddle::detail
