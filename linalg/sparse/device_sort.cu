#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/device_sort.hpp>

namespace heddle::detail {
namespace {

__global__ void group_begins_kernel(const std::int32_t* keys, Index count, Index groups,
                                    Index* begins) {
  for (Index g = thread_index(); g <= groups; g += thread_count()) {
    begins[g] = count_below(keys, count, g);
  }
}

}  // namespace

void queue_exclusive_sum(CudaContext& context, Index* counts, Index size) {
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, counts, size, context.stream()));
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  check(
      cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, counts, counts, size, context.stream()));
}

Index exclusive_sum(CudaContext& context, Index* counts, Index size) {
  queue_exclusive_sum(context, counts, size);
  Index total = 0;
  context.copy_to_host(&total, counts + size - 1, sizeof total);
  return total;
}

void sort_pairs(CudaContext& context, Index largest_key, DeviceIntegers& keys,
                DeviceIntegers& values) {
  if (keys.size() == 0) return;
  DeviceIntegers other_keys(context, keys.size());
  DeviceIntegers other_values(context, keys.size());
  cub::DoubleBuffer<std::int32_t> key_pair(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::int32_t> value_pair(values.data(), other_values.data());
  const int bits = std::max(1, static_cast<int>(std::bit_width(
                                   static_cast<std::uint64_t>(std::max<Index>(largest_key, 0)))));
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    check(cub::DeviceRadixSort::SortPairs(scratch, bytes, key_pair, value_pair,
                                          static_cast<Index>(keys.size()), 0, bits,
                                          context.stream()));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  sort(scratch.data(), bytes);
  if (key_pair.Current() != keys.data()) keys.swap(other_keys);
  if (value_pair.Current() != values.data()) values.swap(other_values);
}

void group_begins(CudaContext& context, const DeviceIntegers& keys, Index groups, Index* begins) {
  group_begins_kernel<<<grid_for(context, groups + 1), kThreads, 0, context.stream()>>>(
      keys.data(), static_cast<Index>(keys.size()), groups, begins);
  check_launch();
}

}  // namespace heddle::detail
