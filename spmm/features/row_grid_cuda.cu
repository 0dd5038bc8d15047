#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spmm/features/row_grid_cuda.hpp>
#include <vector>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 128;
static_assert(kThreads == RowSample::kLongest);

/// offsets[s, …] = column − row of the entries of sampled row s, a thread block per sample.
__global__ void sample_offsets_kernel(const std::int64_t* row_offsets, const std::int32_t* columns,
                                      Index rows, Index samples, std::int32_t* offsets) {
  const Index row = RowSample::place(blockIdx.x, samples, rows);
  const Index begin = row_offsets[row];
  const Index length = row_offsets[row + 1] - begin;
  const bool taken = length <= RowSample::kLongest;
  for (int k = threadIdx.x; k < RowSample::kLongest; k += kThreads) {
    offsets[static_cast<Index>(blockIdx.x) * RowSample::kLongest + k] =
        taken && k < length ? columns[begin + k] - static_cast<std::int32_t>(row)
                            : RowSample::kNone;
  }
}

struct FrequentOffset {
  std::int32_t offset;
  std::int32_t count;
};

/// The frequent ones among the sampled offsets, in any order.
struct FrequentOffsets {
  std::int32_t size;
  FrequentOffset offsets[RowSample::kMostFrequent];
};

/// `least`: how often a frequent offset is among the sorted ones at least.
__global__ void frequent_offsets_kernel(const std::int32_t* sorted, Index size, Index least,
                                        FrequentOffsets* frequent) {
  const Index first = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (first + least > size) return;
  const std::int32_t offset = sorted[first];
  const bool begins = first == 0 || sorted[first - 1] != offset;
  if (offset == RowSample::kNone || !begins || sorted[first + least - 1] != offset) return;
  const Index count = count_below(sorted + first, size - first, Index{offset} + 1);
  frequent->offsets[atomicAdd(&frequent->size, 1)] = {offset, static_cast<std::int32_t>(count)};
}

/// *sum += value. Sums of integers do not depend on their order.
__device__ void add_to(Index* sum, Index value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

/// Counts in a sampled box per thread block. Columns are entered into a hash table.
__global__ void count_box_kernel(RowGrid grid, const std::int64_t* row_offsets,
                                 const std::int32_t* columns, Index samples, BoxCount* total) {
  constexpr unsigned kPlaces = 8192;
  constexpr int kMostColumns = 4096;
  constexpr int kFree = -1;
  __shared__ int table[kPlaces];
  __shared__ int distinct;
  __shared__ unsigned long long entries;
  for (unsigned k = threadIdx.x; k < kPlaces; k += kThreads) table[k] = kFree;
  if (threadIdx.x == 0) {
    distinct = 0;
    entries = 0;
  }
  __syncthreads();
  const auto box = static_cast<std::int32_t>(RowSample::place(blockIdx.x, samples, grid.count()));
  constexpr int kLanes = 8;  // that read a row together
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int r = static_cast<int>(threadIdx.x) / kLanes; r < static_cast<int>(kReuseGridRows);
       r += kThreads / kLanes) {
    const std::int32_t row = grid.row_of(box, r);
    if (row < 0) continue;
    const Index begin = row_offsets[row];
    const Index end = row_offsets[row + 1];
    if (lane == 0) atomicAdd(&entries, static_cast<unsigned long long>(end - begin));
    for (Index k = begin + lane; k < end; k += kLanes) {
      // The table never fills up: each thread enters at most one column beyond the bound.
      if (atomicAdd(&distinct, 0) > kMostColumns) break;
      const std::int32_t column = columns[k];
      unsigned place = static_cast<unsigned>(column) * 2654435769u >> 19;
      for (;; place = (place + 1) % kPlaces) {
        const int found = atomicCAS(&table[place], kFree, column);
        if (found == kFree) atomicAdd(&distinct, 1);
        if (found == kFree || found == column) break;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto all = static_cast<Index>(entries);
  add_to(&total->entries, all);
  add_to(&total->distinct, distinct > kMostColumns ? all : Index{distinct});
}

}  // namespace

template <class T>
RowGrid grid_of_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows,
                     Index brick_rows) {
  const Index samples = std::min(A.rows, RowSample::kMost);
  const Index size = samples * RowSample::kLongest;
  Buffer<std::int32_t, DeviceSpace> offsets(context, static_cast<std::size_t>(size));
  Buffer<std::int32_t, DeviceSpace> sorted(context, offsets.size());
  sample_offsets_kernel<<<static_cast<unsigned>(samples), kThreads, 0, context.stream()>>>(
      A.row_offsets, A.columns, A.rows, samples, offsets.data());
  check_launch();
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    constexpr int kBits = 32;
    check(cub::DeviceRadixSort::SortKeys(scratch, bytes, offsets.data(), sorted.data(), size, 0,
                                         kBits, context.stream()));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  sort(scratch.data(), bytes);
  Buffer<FrequentOffsets, DeviceSpace> device(context, 1);
  check(cudaMemsetAsync(&device.data()->size, 0, sizeof(std::int32_t), context.stream()));
  frequent_offsets_kernel<<<static_cast<unsigned>(samples), kThreads, 0, context.stream()>>>(
      sorted.data(), size, RowSample::least_frequency(samples), device.data());
  check_launch();
  FrequentOffsets found;
  context.copy_to_host(&found, device.data(), sizeof found);
  std::sort(found.offsets, found.offsets + found.size,
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::vector<std::int32_t> frequent;
  std::vector<Index> counts;
  for (std::int32_t k = 0; k < found.size; ++k) {
    frequent.push_back(found.offsets[k].offset);
    counts.push_back(found.offsets[k].count);
  }
  return grid_of_offsets(A.rows, frequent, counts, most_rows, brick_rows);
}

template <class T>
void count_boxes(CudaContext& context, const CsrView<T, DeviceSpace>& A, BoxCount* total) {
  if (A.rows == 0 || A.nnz == 0) return;
  const RowGrid grid = grid_of_rows(context, A, kReuseGridRows);
  const Index boxes = std::min<Index>(grid.count(), kReuseGridBoxes);
  count_box_kernel<<<static_cast<unsigned>(boxes), kThreads, 0, context.stream()>>>(
      grid, A.row_offsets, A.columns, boxes, total);
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template RowGrid grid_of_rows(CudaContext&, const CsrView<T, DeviceSpace>&, Index, Index); \
  template void count_boxes(CudaContext&, const CsrView<T, DeviceSpace>&, BoxCount*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
