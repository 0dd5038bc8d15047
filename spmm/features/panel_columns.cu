#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/features/column_merge.cuh>
#include <heddle/spmm/features/panel_columns.hpp>

namespace heddle::detail::cuda {
namespace {

struct PanelColumnsConfig {
  static constexpr int kThreads = 128;
  static constexpr int kPanels = kThreads / kPanelRows;  // a lane per row
};

/// counts[s] = ⌈distinct columns of panel s·stride / columns_per_count⌉.
template <class Config>
__global__ __launch_bounds__(Config::kThreads) void count_columns_kernel(
    const std::int64_t* row_offsets, const std::int32_t* columns, Index rows, Index stride,
    Index samples, Index columns_per_count, Index* counts) {
  const Index sample = static_cast<Index>(blockIdx.x) * Config::kPanels + threadIdx.x / kPanelRows;
  const int lane = threadIdx.x % kPanelRows;
  const Index row = sample < samples ? sample * stride * kPanelRows + lane : rows;
  ColumnMerge<kPanelRows> merge(row_offsets, columns, rows, row);
  Index distinct = 0;
  while (true) {
    const std::int32_t column = merge.next();
    if (!__any_sync(ColumnMerge<kPanelRows>::kAllLanes, column != ColumnMerge<kPanelRows>::kNone))
      break;
    merge.take(column);
    if (column != ColumnMerge<kPanelRows>::kNone) ++distinct;
  }
  if (lane == 0 && sample < samples) {
    counts[sample] = (distinct + columns_per_count - 1) / columns_per_count;
  }
}

}  // namespace

template <class T>
void launch_count_panel_columns(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                Index stride, Index columns_per_count, Index* counts) {
  using Config = PanelColumnsConfig;
  const Index panels = (A.rows + kPanelRows - 1) / kPanelRows;
  const Index samples = (panels + stride - 1) / stride;
  if (samples == 0) return;
  const auto blocks = static_cast<unsigned>((samples + Config::kPanels - 1) / Config::kPanels);
  count_columns_kernel<Config><<<blocks, Config::kThreads, 0, context.stream()>>>(
      A.row_offsets, A.columns, A.rows, stride, samples, columns_per_count, counts);
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template void launch_count_panel_columns(CudaContext&, const CsrView<T, DeviceSpace>&, Index, \
                                           Index, Index*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
