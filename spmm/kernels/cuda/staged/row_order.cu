#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_grid.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>
#include <limits>
#include <vector>

namespace heddle::detail::cuda {
namespace {

struct SampleConfig {
  static constexpr int kThreads = 128;
  static constexpr Index kSamples = 8192;
  static constexpr int kLongest = 128;  // longer rows are left out
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
};
/// The part of the sampled rows that must have an entry at a frequent offset.
constexpr double kFrequent = 0.3;

/// offsets[s, …] = column − row of the entries of sampled row s, one thread block per sample. The
/// rows are divided into as many equal stretches, with a sample at a random place in each.
template <class Config>
__global__ void sample_offsets_kernel(const std::int64_t* row_offsets, const std::int32_t* columns,
                                      Index rows, Index samples, std::int32_t* offsets) {
  const Index sample = blockIdx.x;
  const Index first = rows * sample / samples;
  const Index size = rows * (sample + 1) / samples - first;
  const auto random = static_cast<Index>((static_cast<std::uint32_t>(sample) * 2654435769u) >> 8);
  const Index row = first + random % size;
  const Index begin = row_offsets[row];
  const Index length = row_offsets[row + 1] - begin;
  for (int k = threadIdx.x; k < Config::kLongest; k += Config::kThreads) {
    offsets[sample * Config::kLongest + k] =
        length <= Config::kLongest && k < length
            ? columns[begin + k] - static_cast<std::int32_t>(row)
            : Config::kNone;
  }
}

template <class T>
RowGrid grid_of_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows) {
  using Config = SampleConfig;
  const Index samples = std::min(A.rows, Config::kSamples);
  std::vector<std::int32_t> all(static_cast<std::size_t>(samples * Config::kLongest));
  Buffer<std::int32_t, DeviceSpace> device(context, all.size());
  sample_offsets_kernel<Config>
      <<<static_cast<unsigned>(samples), Config::kThreads, 0, context.stream()>>>(
          A.row_offsets, A.columns, A.rows, samples, device.data());
  check_launch();
  context.copy_to_host(all.data(), device.data(), all.size() * sizeof(std::int32_t));
  std::erase(all, Config::kNone);
  std::sort(all.begin(), all.end());

  std::vector<std::int32_t> offsets;
  std::vector<Index> counts;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::upper_bound(first, all.end(), *first);
    if (static_cast<double>(last - first) >= kFrequent * static_cast<double>(samples)) {
      offsets.push_back(*first);
      counts.push_back(last - first);
    }
    first = last;
  }
  return grid_of_offsets(A.rows, offsets, counts, most_rows);
}

constexpr int kThreads = 256;

__global__ void boxes_of_rows_kernel(RowGrid grid, Index rows, std::int32_t* boxes,
                                     std::int32_t* identity) {
  const Index row = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  boxes[row] = grid.box_of(static_cast<std::int32_t>(row));
  identity[row] = static_cast<std::int32_t>(row);
}

/// begin[b] = the number of rows in boxes before b, by bisection of the ascending `boxes`.
__global__ void box_begin_kernel(const std::int32_t* boxes, Index rows, Index count, Index* begin) {
  const Index box = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (box > count) return;
  Index low = 0;
  Index high = rows;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (boxes[middle] < box) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  begin[box] = low;
}

}  // namespace

template <class T>
RowOrder order_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows) {
  if (A.rows == 0) return {};
  const RowGrid grid = grid_of_rows(context, A, most_rows);
  const auto rows = static_cast<std::size_t>(A.rows);
  cudaStream_t stream = context.stream();
  Buffer<std::int32_t, DeviceSpace> boxes(context, rows);
  Buffer<std::int32_t, DeviceSpace> sorted_boxes(context, rows);
  Buffer<std::int32_t, DeviceSpace> identity(context, rows);
  RowOrder order;
  order.blocks = grid.count();
  order.rows = Buffer<std::int32_t, DeviceSpace>(context, rows);
  order.begin = Buffer<Index, DeviceSpace>(context, static_cast<std::size_t>(order.blocks + 1));
  boxes_of_rows_kernel<<<blocks_for(A.rows, kThreads), kThreads, 0, stream>>>(
      grid, A.rows, boxes.data(), identity.data());
  check_launch();
  std::size_t bytes = 0;
  const auto sort = [&](void* scratch) {
    check(cub::DeviceRadixSort::SortPairs(scratch, bytes, boxes.data(), sorted_boxes.data(),
                                          identity.data(), order.rows.data(), A.rows, 0, 32,
                                          stream));
  };
  sort(nullptr);
  const Buffer<char, DeviceSpace> scratch(context, bytes);
  sort(const_cast<char*>(scratch.data()));
  box_begin_kernel<<<blocks_for(order.blocks + 1, kThreads), kThreads, 0, stream>>>(
      sorted_boxes.data(), A.rows, order.blocks, order.begin.data());
  check_launch();
  return order;
}

#define HEDDLE_INSTANTIATE(T) \
  template RowOrder order_rows(CudaContext&, const CsrView<T, DeviceSpace>&, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
