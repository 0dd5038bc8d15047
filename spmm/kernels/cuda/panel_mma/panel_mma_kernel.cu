#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/panel_mma/panel_mma_kernel.hpp>
#include <heddle/spmm/kernels/cuda/panel_mma/panels.hpp>
#include <heddle/spmm/kernels/cuda/tensor_tiles.cuh>

namespace heddle::detail::cuda {
namespace {

template <int kWidthOf, int kLoadsOf, int kShareOf, bool kSplitOf>
struct PanelMmaConfig {
  static constexpr int kWidth = kWidthOf;   // columns of B in one load
  static constexpr int kLoads = kLoadsOf;   // loads of a lane from one row of B
  static constexpr int kShare = kShareOf;   // warps that share a unit
  static constexpr bool kSplit = kSplitOf;  // whether long panels are cut into units
  static constexpr int kThreads = 256;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kUnits = kWarps / kShare;
  static constexpr int kStripe = 8 * kWidth * kLoads;
  // Tiles in flight against warps (one H200): narrow stripes gain from tiles, those of 32 columns
  // from warps; where two warps share long panels, from tiles again.
  static constexpr int kColumns = kWidth * kLoads;
  static constexpr bool kLongPanels = kColumns == 8 && kShare == 2;
  static constexpr int kBlocks = kColumns == 4 ? 4 : kColumns > 8 || kLongPanels ? 2 : 3;
  static constexpr int kUnroll = kColumns == 1  ? (kShare == 1 ? 8 : 4)
                                 : kColumns < 4 ? 4
                                 : kColumns < 8 ? 3
                                 : kLongPanels  ? 4
                                                : 2;
  // Narrow stripes have registers left (one H100, up to 8 columns: .87 of the time).
  static constexpr bool kAhead = kColumns == 1;
  static_assert(kWarps % kShare == 0);
};

/// A warp's tiles of a unit. With `kAhead`, a lane's column of each tile and the tiles' headers are
/// loaded a round of kUnroll tiles ahead, while values and rows of B of the current round are on
/// the way.
template <class Config, class V>
class WarpTiles {
  static constexpr int kUnroll = Config::kUnroll;

 public:
  /// Tiles `first` … `last` − 1. No row of B is read.
  __device__ WarpTiles(const PanelsView<V>& panels, Index first, Index last)
      : columns_(panels.columns + first * kTileColumns + threadIdx.x % kTileColumns),
        headers_(reinterpret_cast<const uint2*>(panels.headers) + first),
        count_(static_cast<int>(last - first)) {
    if constexpr (Config::kAhead) load_heads(0);
  }

  /// Adds the tiles to `sums`. The panel's values begin at `values`. `B` points at the lane's first
  /// column of row 0, and rows are `pitch` bytes apart. `active[l]` is true if the l-th load is
  /// within the block.
  template <class T>
  __device__ void add_to(PanelSums<Config>& sums, const V* values, const T* B, unsigned pitch,
                         const bool (&active)[Config::kLoads]) {
    const int lane = threadIdx.x % kWarpSize;
    for (int tile = 0; tile < count_; tile += kUnroll) {
      if constexpr (!Config::kAhead) load_heads(tile);
      V a[kUnroll];
      Lane<T, Config::kWidth> b[kUnroll][Config::kLoads];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const uint2 header = tile_headers_[u];
        const bool present = tile + u < count_ && (header.x >> lane & 1u) != 0;
        const unsigned before = (1u << lane) - 1;
        a[u] = present ? __ldg(values + header.y + __popc(header.x & before)) : V{0};
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) {
          if (active[l]) {
            b[u][l] = load_row<Config::kWidth>(B + l * 8 * Config::kWidth, tile_columns_[u], pitch);
          }
        }
      }
      if constexpr (Config::kAhead) load_heads(tile + kUnroll);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) {
#pragma unroll
          for (int v = 0; v < Config::kWidth; ++v) {
            multiply_tile(a[u], b[u][l][v], sums.values[l][v]);
          }
        }
      }
    }
  }

 private:
  /// Those of tiles `first` … of the warp's. Behind the last tile, the last one's are repeated.
  __device__ void load_heads(int first) {
    if (first >= count_) return;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int own = min(first + u, count_ - 1);
      tile_columns_[u] = __ldg(columns_ + own * kTileColumns);
      tile_headers_[u] = __ldg(headers_ + own);
    }
  }

  const std::int32_t* columns_;
  const uint2* headers_;
  int count_;
  std::int32_t tile_columns_[kUnroll];
  uint2 tile_headers_[kUnroll];
};

/// Adds the sums of the warps that share a unit to those of the unit's first warp, pairwise in a
/// fixed order.
template <class Config>
__device__ void add_shares(PanelSums<Config>& sums) {
  if constexpr (Config::kShare > 1) {
    constexpr int kSums = 2 * Config::kWidth * Config::kLoads;
    __shared__ double shared[Config::kUnits * Config::kShare / 2][kSums][kWarpSize];
    const int warp = threadIdx.x / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    const int share = warp % Config::kShare;
    const int first_slot = warp / Config::kShare * (Config::kShare / 2);
    double* own = &sums.values[0][0][0];
#pragma unroll
    for (int step = Config::kShare / 2; step > 0; step /= 2) {
      if (share >= step && share < 2 * step) {
#pragma unroll
        for (int s = 0; s < kSums; ++s) shared[first_slot + share - step][s][lane] = own[s];
      }
      __syncthreads();
      if (share < step) {
#pragma unroll
        for (int s = 0; s < kSums; ++s) own[s] += shared[first_slot + share][s][lane];
      }
      __syncthreads();
    }
  }
}

/// Ends `kWidth` entries of one row of C by a unit's sums, or stores these in the unit's part.
template <bool kSplit, class T, int kWidth>
__device__ void store_sum(const SpmmProduct<T>& p, const PanelUnit& unit, double* parts,
                          int panel_row, Index column, const double (&sums)[kWidth]) {
  const Index row = unit.panel * kPanelRows + panel_row;
  if (row >= p.A.rows || column >= p.N) return;
  if (kSplit && unit.part >= 0) {
    double* to = parts + (unit.part * kPanelRows + panel_row) * p.N + column;
#pragma unroll
    for (int v = 0; v < kWidth; ++v) to[v] = sums[v];
    return;
  }
  Lane<T, kWidth> sum;
#pragma unroll
  for (int v = 0; v < kWidth; ++v) sum[v] = static_cast<T>(sums[v]);
  finish(p, row, column, sum);
}

template <class Config, class T, class V>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void panel_mma_kernel(SpmmProduct<T> p,
                                                                    PanelsView<V> panels,
                                                                    double* parts) {
  const int warp = threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  const Index index = static_cast<Index>(blockIdx.x) * Config::kUnits + warp / Config::kShare;
  const Index stripe = static_cast<Index>(blockIdx.y) * Config::kStripe;

  PanelSums<Config> sums;
  PanelUnit unit{};
  const bool active_unit = index < panels.unit_count;
  if (active_unit) {
    unit = Config::kSplit
               ? panels.units[index]
               : PanelUnit{index, panels.tile_begin[index], panels.tile_begin[index + 1], -1};
  }
  const Index tiles = unit.last_tile - unit.first_tile;
  const int share = warp % Config::kShare;
  WarpTiles<Config, V> own_tiles(panels, unit.first_tile + tiles * share / Config::kShare,
                                 unit.first_tile + tiles * (share + 1) / Config::kShare);
  wait_for_previous_kernel();
  if (active_unit) {
    const Index column = stripe + lane / kTileColumns * Config::kWidth;
    bool active[Config::kLoads];
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) active[l] = column + l * 8 * Config::kWidth < p.N;
    own_tiles.add_to(sums, panels.values + panels.row_offsets[unit.panel * kPanelRows],
                     p.B + column, b_pitch(p), active);
  }
  add_shares(sums);

  if (warp % Config::kShare != 0 || !active_unit) return;
#pragma unroll
  for (int l = 0; l < Config::kLoads; ++l) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      double sum[Config::kWidth];
#pragma unroll
      for (int v = 0; v < Config::kWidth; ++v) sum[v] = sums.values[l][v][e];
      store_sum<Config::kSplit>(p, unit, parts, lane / 4,
                                stripe + (8 * l + 2 * (lane % 4) + e) * Config::kWidth, sum);
    }
  }
}

constexpr int kPartThreads = 256;

/// Each thread adds the parts of one entry of a split panel, in order.
template <class T>
__global__ __launch_bounds__(kPartThreads) void add_parts_kernel(SpmmProduct<T> p,
                                                                 const SplitPanel* split_panels,
                                                                 Index split_count,
                                                                 const double* parts) {
  wait_for_previous_kernel();
  const Index i = static_cast<Index>(blockIdx.x) * kPartThreads + threadIdx.x;
  const Index per_panel = kPanelRows * p.N;
  if (i >= split_count * per_panel) return;
  const SplitPanel split = split_panels[i / per_panel];
  const Index entry = i % per_panel;
  const Index row = split.panel * kPanelRows + entry / p.N;
  if (row >= p.A.rows) return;
  double sum = 0;
  for (Index part = split.first_part; part < split.last_part; ++part) {
    sum += parts[part * per_panel + entry];
  }
  finish(p, row, entry % p.N, Lane<T, 1>{{static_cast<T>(sum)}});
}

template <class T, class V>
void launch_add_parts(const SpmmProduct<T>& product, const PanelsView<V>& panels,
                      const double* parts, cudaStream_t stream) {
  if (panels.split_count == 0) return;
  const Index entries = panels.split_count * kPanelRows * product.N;
  launch_dependent(add_parts_kernel<T>, {blocks_for(entries, kPartThreads), kPartThreads}, stream,
                   product, panels.split_panels, panels.split_count, parts);
}

template <class Config, class T, class V>
void launch(const SpmmProduct<T>& product, const PanelsView<V>& panels, double* parts,
            cudaStream_t stream) {
  const dim3 grid(blocks_for(panels.unit_count, Config::kUnits),
                  blocks_for(product.N, Config::kStripe));
  launch_dependent(panel_mma_kernel<Config, T, V>, {grid, Config::kThreads}, stream, product,
                   panels, parts);
}

template <class T, class V>
void launch_panel_mma(const SpmmProduct<T>& product, const Panels<V>& panels, double* parts,
                      cudaStream_t stream) {
  constexpr int kWidest = kVectorWidth<T>;
  const PanelsView<V>& view = panels.view();
  const auto launch_loads = [&]<int kWidth>() {
    const Index columns = 8 * kWidth;
    const auto loads = static_cast<int>(std::min<Index>(4, (product.N + columns - 1) / columns));
    dispatch_at_least<1, 2, 4>(loads, [&]<int kLoads>() {
      dispatch_at_least<1, 2, 4, 8>(panels.warps_per_unit(), [&]<int kShare>() {
        if (view.units != nullptr) {
          launch<PanelMmaConfig<kWidth, kLoads, kShare, true>>(product, view, parts, stream);
        } else {
          launch<PanelMmaConfig<kWidth, kLoads, kShare, false>>(product, view, parts, stream);
        }
      });
    });
  };
  if (!is_vectorisable(product) || product.N <= 8) {
    launch_loads.template operator()<1>();
  } else if (product.N <= 16 || kWidest == 2) {
    launch_loads.template operator()<2>();
  } else {
    launch_loads.template operator()<kWidest>();
  }
  launch_add_parts(product, view, parts, stream);
}

template <class T, class V>
class PanelMmaPlan : public KernelPlan<T, DeviceSpace> {
 public:
  PanelMmaPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : panels_(context, matrix.A) {}

  void prepare(CudaContext& context, Index N) override {
    grow(context, parts_, panels_.parts() * kPanelRows * N);
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_panel_mma(product, panels_, parts_.data(), context.stream());
  }

 private:
  Panels<V> panels_;
  Buffer<double, DeviceSpace> parts_;  ///< sums of the units of long panels
};

}  // namespace

KernelMakers<DeviceSpace> PanelMmaKernel::makers() {
  return makers_by_values<PanelMmaKernel, PanelMmaPlan>();
}

}  // namespace heddle::detail::cuda
