#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/row_bins.hpp>

namespace heddle::detail {
namespace {

__global__ void number_rows_kernel(Index rows, std::int32_t* numbers) {
  for (Index i = thread_index(); i < rows; i += thread_count()) {
    numbers[i] = static_cast<std::int32_t>(i);
  }
}

}  // namespace

RowBins sort_into_bins(CudaContext& context, DeviceIntegers bins, int count) {
  const auto rows = static_cast<Index>(bins.size());
  DeviceIntegers sorted(context, bins.size());
  number_rows_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(rows,
                                                                                 sorted.data());
  check_launch();
  sort_pairs(context, count, bins, sorted);
  Buffer<Index, DeviceSpace> begins(context, static_cast<std::size_t>(count) + 1);
  group_begins(context, bins, count, begins.data());
  RowBins result;
  result.begins.resize(begins.size());
  context.copy_to_host(result.begins.data(), begins.data(), begins.size() * sizeof(Index));
  result.rows = DeviceIntegers(context, static_cast<std::size_t>(result.begins.back()));
  if (result.rows.size() > 0) {
    check(cudaMemcpyAsync(result.rows.data(), sorted.data(),
                          result.rows.size() * sizeof(std::int32_t), cudaMemcpyDeviceToDevice,
                          context.stream()));
  }
  return result;
}

}  // namespace heddle::detail
