#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/features/features_cuda.hpp>
#include <heddle/spmm/features/float_values.hpp>
#include <heddle/spmm/features/node_fills.hpp>
#include <heddle/spmm/features/panel_columns.hpp>
#include <heddle/spmm/features/row_grid_cuda.hpp>
#include <heddle/spmm/features/row_runs.hpp>
#include <heddle/spmm/features/row_tiles_cuda.hpp>

namespace heddle::detail::cuda {
namespace {

/// Statistics of the lengths of some rows. They are integers, so that the order in which threads
/// add to them does not matter.
struct RowLengths {
  unsigned long long squares;  ///< Σ length²
  unsigned long long longest;
  unsigned long long empty;
  unsigned long long within_128;  ///< `MatrixFeatures::rows_within_128`
};

struct RowLengthsConfig {
  static constexpr int kThreads = 256;
  static constexpr unsigned kMostBlocks = 512;
};

constexpr unsigned kAllLanes = 0xffffffffu;

/// The sum and the largest of the lanes' values, in lane 0.
__device__ unsigned long long warp_sum(unsigned long long value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(kAllLanes, value, step);
  return value;
}
__device__ unsigned long long warp_max(unsigned long long value) {
  for (int step = 16; step > 0; step /= 2) {
    value = max(value, __shfl_down_sync(kAllLanes, value, step));
  }
  return value;
}

/// Adds the statistics of all rows to `all`.
template <class Config>
__global__ __launch_bounds__(Config::kThreads) void row_lengths_kernel(
    const std::int64_t* row_offsets, Index rows, RowLengths* all) {
  const Index thread = static_cast<Index>(blockIdx.x) * Config::kThreads + threadIdx.x;
  RowLengths own{};
  for (Index row = thread; row < rows; row += Index{Config::kThreads} * gridDim.x) {
    const auto length = static_cast<unsigned long long>(row_offsets[row + 1] - row_offsets[row]);
    own.squares += length * length;
    own.longest = max(own.longest, length);
    own.empty += length == 0 ? 1 : 0;
    if (row % kRunStride == 0) {
      own.within_128 = max(
          own.within_128, static_cast<unsigned long long>(rows_within_128(row_offsets, rows, row)));
    }
  }
  own = {warp_sum(own.squares), warp_max(own.longest), warp_sum(own.empty),
         warp_max(own.within_128)};
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&all->squares, own.squares);
  atomicMax(&all->longest, own.longest);
  atomicAdd(&all->empty, own.empty);
  atomicMax(&all->within_128, own.within_128);
}

/// *all += the statistics of all rows.
void survey_row_lengths(CudaContext& context, const std::int64_t* row_offsets, Index rows,
                        RowLengths* all) {
  using Config = RowLengthsConfig;
  const Index wanted = (rows + Config::kThreads - 1) / Config::kThreads;
  const auto blocks = static_cast<unsigned>(std::min<Index>(wanted, Config::kMostBlocks));
  row_lengths_kernel<Config>
      <<<blocks, Config::kThreads, 0, context.stream()>>>(row_offsets, rows, all);
  check_launch();
}

/// Of the sampled panels. They are integers, as above.
struct PanelSums {
  unsigned long long entries;
  unsigned long long columns;  ///< distinct ones of each panel
};

/// Adds the entries and distinct columns of the panels 0, stride, 2 stride, … to `sums`.
__global__ void panel_sums_kernel(const Index* distinct, const std::int64_t* row_offsets,
                                  Index stride, Index samples, PanelSums* sums) {
  PanelSums own{};
  for (Index k = Index{blockIdx.x} * blockDim.x + threadIdx.x; k < samples;
       k += Index{blockDim.x} * gridDim.x) {
    const Index row = k * stride * kPanelRows;
    own.entries +=
        static_cast<unsigned long long>(row_offsets[row + kPanelRows] - row_offsets[row]);
    own.columns += static_cast<unsigned long long>(distinct[k]);
  }
  own = {warp_sum(own.entries), warp_sum(own.columns)};
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&sums->entries, own.entries);
  atomicAdd(&sums->columns, own.columns);
}

/// *sums += what is counted in evenly spaced whole panels.
template <class T>
void count_panels(CudaContext& context, const CsrView<T, DeviceSpace>& A, PanelSums* sums) {
  constexpr Index kSamples = 4096;
  const Index panels = A.rows / kPanelRows;
  if (panels == 0) return;
  const Index stride = (panels + kSamples - 1) / kSamples;
  const Index samples = (panels + stride - 1) / stride;
  CsrView<T, DeviceSpace> whole = A;
  whole.rows = panels * kPanelRows;
  Buffer<Index, DeviceSpace> distinct(context, static_cast<std::size_t>(samples));
  launch_count_panel_columns(context, whole, stride, 1, distinct.data());
  panel_sums_kernel<<<4, RowLengthsConfig::kThreads, 0, context.stream()>>>(
      distinct.data(), A.row_offsets, stride, samples, sums);
  check_launch();
}

/// All that the device finds out, so that one copy brings it to the host: each wait for a copy
/// takes longer than most of the counts.
struct Findings {
  Index differ;  ///< 1: a value is not exact in single precision
  RowLengths lengths;
  PanelSums panels;
  TileCount low, middle, high;
  BoxCount boxes;
  NodeRowCounts node_rows;
};

template <class T>
Findings findings(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  Buffer<Findings, DeviceSpace> device(context, 1);
  Findings* const there = device.data();
  check(cudaMemsetAsync(there, 0, sizeof(Findings), context.stream()));
  find_doubles(context, A.values, A.nnz, &there->differ);
  survey_row_lengths(context, A.row_offsets, A.rows, &there->lengths);
  count_panels(context, A, &there->panels);
  count_tiles(context, A, kLowTiles, &there->low);
  count_tiles(context, A, kMiddleTiles, &there->middle);
  count_tiles(context, A, kHighTiles, &there->high);
  count_node_rows(context, A, &there->node_rows);
  count_boxes(context, A, &there->boxes);
  Findings found;
  context.copy_to_host(&found, there, sizeof found);
  return found;
}

/// 0 / 0 counts as `none`.
double quotient(Index a, Index b, double none) {
  return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : none;
}

}  // namespace

template <class T>
MatrixFeatures device_features(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  MatrixFeatures features;
  features.rows = A.rows;
  features.cols = A.cols;
  features.nnz = A.nnz;
  features.values_are_floats = true;
  if (A.rows == 0) return features;
  const Findings found = findings(context, A);
  features.values_are_floats = found.differ == 0;
  const auto rows = static_cast<double>(A.rows);
  features.row_mean = static_cast<double>(A.nnz) / rows;
  const double variance =
      static_cast<double>(found.lengths.squares) / rows - features.row_mean * features.row_mean;
  features.row_deviation = std::sqrt(std::max(variance, 0.0));
  features.row_max = static_cast<Index>(found.lengths.longest);
  features.empty_rows = static_cast<Index>(found.lengths.empty);
  features.rows_within_128 = static_cast<Index>(found.lengths.within_128);
  features.reuse_8 = quotient(static_cast<Index>(found.panels.entries),
                              static_cast<Index>(found.panels.columns), 1);
  features.reuse_128 = found.low.reuse();
  features.reuse_2048 = found.middle.reuse();
  features.reuse_32768 = found.high.reuse();
  features.column_run = found.high.run();
  features.reuse_grid = quotient(found.boxes.entries, found.boxes.distinct, 0);
  set_node_size(node_fills(found.node_rows), features);
  return features;
}

#define HEDDLE_INSTANTIATE(T) \
  template MatrixFeatures device_features(CudaContext&, const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
