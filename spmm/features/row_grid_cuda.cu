#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/features/row_grid_cuda.hpp>
#include <vector>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 128;

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

/// The entries of a box, and its distinct columns.
struct BoxCount {
  Index entries;
  Index distinct;
};

/// counts[s] of sampled box s, a thread block per sample. Columns are entered into a hash table.
__global__ void count_box_kernel(RowGrid grid, const std::int64_t* row_offsets,
                                 const std::int32_t* columns, Index samples, BoxCount* counts) {
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
  for (int r = 0; r < static_cast<int>(kReuseGridRows); ++r) {
    const std::int32_t row = grid.row_of(box, r);
    if (row < 0) continue;
    const Index begin = row_offsets[row];
    const Index end = row_offsets[row + 1];
    if (threadIdx.x == 0) entries += static_cast<unsigned long long>(end - begin);
    for (Index k = begin + threadIdx.x; k < end; k += kThreads) {
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
  counts[blockIdx.x] = {all, distinct > kMostColumns ? all : Index{distinct}};
}

}  // namespace

template <class T>
RowGrid grid_of_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows) {
  const Index samples = std::min(A.rows, RowSample::kMost);
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(samples * RowSample::kLongest));
  Buffer<std::int32_t, DeviceSpace> device(context, offsets.size());
  sample_offsets_kernel<<<static_cast<unsigned>(samples), kThreads, 0, context.stream()>>>(
      A.row_offsets, A.columns, A.rows, samples, device.data());
  check_launch();
  context.copy_to_host(offsets.data(), device.data(), offsets.size() * sizeof(std::int32_t));
  return grid_of_sample(A.rows, std::move(offsets), samples, most_rows);
}

template <class T>
double grid_reuse(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  if (A.rows == 0 || A.nnz == 0) return 0;
  const RowGrid grid = grid_of_rows(context, A, kReuseGridRows);
  const Index boxes = std::min<Index>(grid.count(), kReuseGridBoxes);
  Buffer<BoxCount, DeviceSpace> device(context, static_cast<std::size_t>(boxes));
  count_box_kernel<<<static_cast<unsigned>(boxes), kThreads, 0, context.stream()>>>(
      grid, A.row_offsets, A.columns, boxes, device.data());
  check_launch();
  std::vector<BoxCount> counts(device.size());
  context.copy_to_host(counts.data(), device.data(), counts.size() * sizeof(BoxCount));
  Index entries = 0;
  Index distinct = 0;
  for (const BoxCount& count : counts) {
    entries += count.entries;
    distinct += count.distinct;
  }
  return distinct > 0 ? static_cast<double>(entries) / static_cast<double>(distinct) : 0;
}

#define HEDDLE_INSTANTIATE(T)                                                         \
  template RowGrid grid_of_rows(CudaContext&, const CsrView<T, DeviceSpace>&, Index); \
  template double grid_reuse(CudaContext&, const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
