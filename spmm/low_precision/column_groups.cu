#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/features/column_merge.cuh>
#include <heddle/spmm/low_precision/column_groups.hpp>
#include <heddle/spmm/low_precision/fragment_order.hpp>

namespace heddle::detail {
namespace {

constexpr int kPanels = kThreads / kBlockRows;  // per thread block: a lane per row
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kSliceRows = 8;
constexpr int kRowsPerLine = 8;  // of B

using Merge = cuda::ColumnMerge<kBlockRows>;

template <class V>
inline constexpr int kGroupColumns = kBlockRowBytes / static_cast<int>(sizeof(V));

template <class V>
__device__ Merge merge_of_lane(const CsrView<V, DeviceSpace>& A, const std::int32_t* row_order,
                               Index panel) {
  Index row = panel * kBlockRows + threadIdx.x % kBlockRows;
  if (row >= A.rows) {
    row = A.rows;
  } else if (row_order != nullptr) {
    row = row_order[row];
  }
  return Merge(A.row_offsets, A.columns, A.rows, row);
}

__device__ Index panel_of_thread() {
  return static_cast<Index>(blockIdx.x) * kPanels + threadIdx.x / kBlockRows;
}

template <class V>
__global__ __launch_bounds__(kThreads) void count_kernel(CsrView<V, DeviceSpace> A,
                                                         const std::int32_t* row_order,
                                                         Index panels, Index* counts) {
  const Index panel = panel_of_thread();
  Merge merge = merge_of_lane(A, row_order, panel);
  Index distinct = 0;
  while (true) {
    const std::int32_t column = merge.next();
    if (!__any_sync(kAllLanes, column != Merge::kNone)) break;
    merge.take(column);
    if (column != Merge::kNone) ++distinct;
  }
  if (threadIdx.x % kBlockRows == 0 && panel < panels) {
    counts[panel] = ceil_div(distinct, Index{kGroupColumns<V>});
  }
}

template <class V>
__global__ __launch_bounds__(kThreads) void fill_kernel(CsrView<V, DeviceSpace> A,
                                                        const std::int32_t* row_order, Index panels,
                                                        const Index* offsets, std::int32_t* columns,
                                                        V* values) {
  constexpr int kWidth = kGroupColumns<V>;
  const Index panel = panel_of_thread();
  const int lane = static_cast<int>(threadIdx.x) % kBlockRows;
  Merge merge = merge_of_lane(A, row_order, panel);
  Index group = panel < panels ? offsets[panel] : 0;
  int at = 0;
  std::int32_t last = 0;
  while (true) {
    const std::int32_t column = merge.next();
    if (!__any_sync(kAllLanes, column != Merge::kNone)) break;
    const Index entry = merge.position();
    if (merge.take(column)) {
      values[group * kBlockRows * kWidth + fragment_place<V>(lane, at)] = A.values[entry];
    }
    if (column == Merge::kNone) continue;
    if (lane == 0) columns[group * kWidth + at] = column;
    last = column;
    if (++at == kWidth) {
      at = 0;
      ++group;
    }
  }
  if (lane != 0 || at == 0) return;
  for (; at < kWidth; ++at) columns[group * kWidth + at] = last;
}

/// A lane per row; the first lane of those that meet a line counts it.
template <class V>
__global__ __launch_bounds__(kThreads) void lines_kernel(CsrView<V, DeviceSpace> A,
                                                         unsigned long long* lines) {
  const Index row = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const auto lane = threadIdx.x % kWarp;
  const unsigned slice = 0xffu << (lane / kSliceRows * kSliceRows);
  const std::int64_t first = A.row_offsets[min(row, A.rows)];
  const std::int64_t count = A.row_offsets[min(row + 1, A.rows)] - first;
  unsigned found = 0;
  for (std::int64_t k = 0; __any_sync(kAllLanes, k < count); ++k) {
    const std::int32_t line = k < count ? A.columns[first + k] / kRowsPerLine : -1;
    const unsigned same = __match_any_sync(kAllLanes, line) & slice;
    if (line >= 0 && lane == static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1)) ++found;
  }
  if (found > 0) atomicAdd(lines, static_cast<unsigned long long>(found));  // whole numbers
}

template <class V>
Index panels_of(const CsrView<V, DeviceSpace>& A) {
  return ceil_div(A.rows, Index{kBlockRows});
}

unsigned thread_blocks(Index items, Index per_block) {
  return static_cast<unsigned>(ceil_div(items, per_block));
}

/// `offsets` becomes those of the panels' groups.
template <class V>
Index set_offsets(CudaContext& context, const CsrView<V, DeviceSpace>& A,
                  const std::int32_t* row_order, Buffer<Index, DeviceSpace>& offsets) {
  const Index panels = panels_of(A);
  offsets = {context, static_cast<std::size_t>(panels + 1)};
  check(cudaMemsetAsync(offsets.data() + panels, 0, sizeof(Index), context.stream()));
  if (panels > 0) {
    count_kernel<V><<<thread_blocks(panels, kPanels), kThreads, 0, context.stream()>>>(
        A, row_order, panels, offsets.data());
    check_launch();
  }
  return exclusive_sum(context, offsets.data(), panels + 1);
}

}  // namespace

template <class V>
ColumnGroups<V> make_column_groups(CudaContext& context, const CsrView<V, DeviceSpace>& A,
                                   const std::int32_t* row_order) {
  constexpr Index kWidth = kGroupColumns<V>;
  ColumnGroups<V> groups;
  groups.count = set_offsets(context, A, row_order, groups.offsets);
  groups.columns = {context, static_cast<std::size_t>(groups.count * kWidth)};
  groups.values = {context, static_cast<std::size_t>(groups.count * kBlockRows * kWidth)};
  if (groups.count == 0) return groups;
  check(
      cudaMemsetAsync(groups.values.data(), 0, groups.values.size() * sizeof(V), context.stream()));
  fill_kernel<V><<<thread_blocks(panels_of(A), kPanels), kThreads, 0, context.stream()>>>(
      A, row_order, panels_of(A), groups.offsets.data(), groups.columns.data(),
      groups.values.data());
  check_launch();
  return groups;
}

template <class V>
Index count_column_groups(CudaContext& context, const CsrView<V, DeviceSpace>& A,
                          const std::int32_t* row_order) {
  Buffer<Index, DeviceSpace> offsets;
  return set_offsets(context, A, row_order, offsets);
}

template <class V>
Index gathered_lines(CudaContext& context, const CsrView<V, DeviceSpace>& A) {
  unsigned long long lines = 0;
  if (A.rows == 0) return 0;
  Buffer<unsigned long long, DeviceSpace> there(context, 1);
  context.copy_to_device(there.data(), &lines, sizeof lines);
  lines_kernel<V>
      <<<thread_blocks(A.rows, kThreads), kThreads, 0, context.stream()>>>(A, there.data());
  check_launch();
  context.copy_to_host(&lines, there.data(), sizeof lines);
  return static_cast<Index>(lines);
}

#define HEDDLE_INSTANTIATE(V)                                                               \
  template ColumnGroups<V> make_column_groups(CudaContext&, const CsrView<V, DeviceSpace>&, \
                                              const std::int32_t*);                         \
  template Index count_column_groups(CudaContext&, const CsrView<V, DeviceSpace>&,          \
                                     const std::int32_t*);                                  \
  template Index gathered_lines(CudaContext&, const CsrView<V, DeviceSpace>&);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
