#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/features/panel_columns.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/panel_mma/fill_tiles.cuh>
#include <heddle/spmm/kernels/cuda/panel_mma/panels.hpp>
#include <heddle/spmm/kernels/cuda/upload.hpp>
#include <vector>

namespace heddle::detail::cuda {
namespace {

/// The number of warps that occupies a multiprocessor.
constexpr Index kEnoughWarps = 32;
/// The smallest number of tiles per warp before several warps share a unit.
constexpr Index kFewestTiles = 4;
constexpr Index kMostWarpsPerUnit = 8;
/// Panels count as uneven if the longest has more than this many times the mean number of tiles.
constexpr Index kEvenPanels = 2;
/// The number of tiles per warp in a unit of a long panel. It is large enough that adding the parts
/// takes little time.
constexpr Index kUnitTiles = 64;
/// The number of units per warp, if there are enough tiles, so that the last units are short.
constexpr Index kUnitsPerWarp = 8;

struct PanelsConfig {
  static constexpr int kThreads = 128;
  static constexpr int kPanels = kThreads / kPanelRows;  // a lane per row
};

template <class Config, class T, class V>
__global__ __launch_bounds__(Config::kThreads) void fill_panels_kernel(CsrView<T, DeviceSpace> A,
                                                                       const Index* tile_begin,
                                                                       std::int32_t* columns,
                                                                       TileHeader* headers,
                                                                       V* values) {
  const Index panels = (A.rows + kPanelRows - 1) / kPanelRows;
  const Index panel = static_cast<Index>(blockIdx.x) * Config::kPanels + threadIdx.x / kPanelRows;
  const int lane = threadIdx.x % kPanelRows;
  const Index row = panel < panels ? panel * kPanelRows + lane : A.rows;
  const Index first_value = A.row_offsets[min(panel * kPanelRows, A.rows)];
  ColumnMerge<kPanelRows> merge(A.row_offsets, A.columns, A.rows, row);

  fill_tiles(
      merge, panel < panels ? tile_begin[panel] : 0, 0, A.values, headers, values + first_value,
      [&](Index tile, int k, std::int32_t column) { columns[tile * kTileColumns + k] = column; });
}

template <class T, class V>
void launch_fill_panels(const CsrView<T, DeviceSpace>& A, const Index* tile_begin,
                        std::int32_t* columns, TileHeader* headers, V* values,
                        cudaStream_t stream) {
  using Config = PanelsConfig;
  const Index panels = (A.rows + kPanelRows - 1) / kPanelRows;
  fill_panels_kernel<Config><<<blocks_for(panels, Config::kPanels), Config::kThreads, 0, stream>>>(
      A, tile_begin, columns, headers, values);
  check_launch();
}

}  // namespace

template <class V>
template <class T>
Panels<V>::Panels(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  view_.rows = A.rows;
  const Index count = view_.count();
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  tile_begin_ = Buffer<Index, DeviceSpace>(context, size(count + 1));
  check(cudaMemsetAsync(tile_begin_.data() + count, 0, sizeof(Index), context.stream()));
  launch_count_panel_columns(context, A, 1, kTileColumns, tile_begin_.data());
  tiles_ = exclusive_sum(context, tile_begin_.data(), count + 1);
  columns_ = Buffer<std::int32_t, DeviceSpace>(context, size(tiles_ * kTileColumns));
  headers_ = Buffer<TileHeader, DeviceSpace>(context, size(tiles_));
  values_ = Buffer<V, DeviceSpace>(context, size(A.nnz));
  if (count > 0) {
    launch_fill_panels(A, tile_begin_.data(), columns_.data(), headers_.data(), values_.data(),
                       context.stream());
  }
  split_long_panels(context);
  view_.row_offsets = A.row_offsets;
  view_.tile_begin = tile_begin_.data();
  view_.columns = columns_.data();
  view_.headers = headers_.data();
  view_.values = values_.data();
}

template <class V>
void Panels<V>::split_long_panels(CudaContext& context) {
  const Index count = view_.count();
  view_.unit_count = count;
  if (count == 0) return;
  const Index enough_warps = kEnoughWarps * context.device().multiprocessors;
  const Index shared_by = std::min(enough_warps / count, tiles_ / (count * kFewestTiles));
  warps_per_unit_ = static_cast<int>(
      std::bit_ceil(static_cast<unsigned>(std::clamp<Index>(shared_by, 1, kMostWarpsPerUnit))));

  std::vector<Index> begin(static_cast<std::size_t>(count + 1));
  context.copy_to_host(begin.data(), tile_begin_.data(), begin.size() * sizeof(Index));
  Index longest = 0;
  for (std::size_t p = 0; p + 1 < begin.size(); ++p) {
    longest = std::max(longest, begin[p + 1] - begin[p]);
  }
  if (longest * count <= kEvenPanels * tiles_) return;

  const Index unit_tiles = std::max(kUnitTiles, tiles_ / (kUnitsPerWarp * enough_warps)) *
                           static_cast<Index>(warps_per_unit_);
  std::vector<PanelUnit> units;
  std::vector<SplitPanel> split;
  for (Index panel = 0; panel < count; ++panel) {
    const Index first = begin[static_cast<std::size_t>(panel)];
    const Index tiles = begin[static_cast<std::size_t>(panel) + 1] - first;
    const Index pieces = std::max<Index>(1, (tiles + unit_tiles - 1) / unit_tiles);
    if (pieces > 1) split.push_back({panel, parts_, parts_ + pieces});
    for (Index i = 0; i < pieces; ++i) {
      units.push_back({panel, first + tiles * i / pieces, first + tiles * (i + 1) / pieces,
                       pieces > 1 ? parts_++ : -1});
    }
  }
  units_ = upload(context, units);
  split_panels_ = upload(context, split);
  view_.units = units_.data();
  view_.unit_count = static_cast<Index>(units.size());
  view_.split_panels = split_panels_.data();
  view_.split_count = static_cast<Index>(split.size());
}

template class Panels<float>;
template class Panels<double>;
#define HEDDLE_INSTANTIATE(T, V) \
  template Panels<V>::Panels(CudaContext&, const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_STORED_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
