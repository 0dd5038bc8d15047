#include <heddle/linalg/cuda/check.hpp>
#include <heddle/spmm/cuda/dispatch.hpp>
#include <heddle/spmm/cuda/lanes.cuh>
#include <heddle/spmm/cuda/panel_mma.hpp>

namespace heddle::cuda {
namespace {

template <int kWidthOf, int kLoadsOf, int kShareOf>
struct PanelMmaConfig {
  static constexpr int kWidth = kWidthOf;  // columns of B in one load
  static constexpr int kLoads = kLoadsOf;  // loads of a lane from one row of B
  static constexpr int kShare = kShareOf;  // warps that share a panel
  static constexpr int kThreads = 256;
  static constexpr int kBlocks = kWidth * kLoads > 8 ? 2 : 3;  // see lanes.cuh
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kPanels = kWarps / kShare;
  static constexpr int kSlab = 8 * kWidth * kLoads;
  static constexpr int kUnroll = kWidth * kLoads > 4 ? 2 : 4;  // tiles in flight
  static_assert(kWarps % kShare == 0);
};

/// c += a·b with A 8×4, B 4×8, C 8×8 over a warp: lane 4i + k holds A(i, k), lane 4j + k holds
/// B(k, j), lane 4i + q holds C(i, 2q) and C(i, 2q + 1).
__device__ void multiply_tile(double a, double b, double (&c)[2]) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/// A lane's part of a panel's product. Column j of the tensor cores' B stands for column
/// kWidth·j + v of the block in the v-th of kWidth products, so that a lane's loads are wide and
/// its sums are neighbours: sums[l][v][e] belongs to column (8l + 2q + e)·kWidth + v of the slab.
template <class Config>
struct PanelSums {
  double values[Config::kLoads][Config::kWidth][2] = {};
};

/// Adds tiles first … last − 1 of the panel whose values begin at `values`. `B` points at the
/// lane's first column of row 0; `active[l]` tells whether its l-th load is within the block.
template <class Config, class T>
__device__ void add_tiles(const PanelsView<T>& panels, const T* values, Index first, Index last,
                          const T* B, Index ldb, const bool (&active)[Config::kLoads],
                          PanelSums<Config>& sums) {
  const int lane = threadIdx.x % kWarpSize;
  const unsigned before = (1u << lane) - 1;
  for (Index tile = first; tile < last; tile += Config::kUnroll) {
    T a[Config::kUnroll];
    Lane<T, Config::kWidth> b[Config::kUnroll][Config::kLoads];
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u) {
      const Index own = min(tile + u, last - 1);
      const std::int32_t column = __ldg(panels.columns + own * kTileColumns + lane % kTileColumns);
      const uint2 header = __ldg(reinterpret_cast<const uint2*>(panels.headers) + own);
      const bool present = tile + u < last && (header.x >> lane & 1u) != 0;
      a[u] = present ? __ldg(values + header.y + __popc(header.x & before)) : T{0};
#pragma unroll
      for (int l = 0; l < Config::kLoads; ++l) {
        if (active[l]) {
          b[u][l] = load<Config::kWidth>(B + column * ldb + l * 8 * Config::kWidth);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u) {
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

/// Adds the sums of the warps that share a panel into those of its first, pairwise: fixed order.
template <class Config>
__device__ void add_shares(PanelSums<Config>& sums) {
  if constexpr (Config::kShare > 1) {
    constexpr int kSums = 2 * Config::kWidth * Config::kLoads;
    __shared__ double shared[Config::kPanels * Config::kShare / 2][kSums][kWarpSize];
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

template <class Config, class T>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void panel_mma_kernel(SpmmProduct<T> p,
                                                                    PanelsView<T> panels) {
  const int warp = threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  const Index panel = static_cast<Index>(blockIdx.x) * Config::kPanels + warp / Config::kShare;
  const Index slab = static_cast<Index>(blockIdx.y) * Config::kSlab;

  PanelSums<Config> sums;
  if (panel < panels.count()) {
    const Index begin = panels.tile_begin[panel];
    const Index tiles = panels.tile_begin[panel + 1] - begin;
    const int share = warp % Config::kShare;
    const Index column = slab + lane / kTileColumns * Config::kWidth;
    bool active[Config::kLoads];
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) active[l] = column + l * 8 * Config::kWidth < p.N;
    add_tiles(panels, panels.values + panels.row_offsets[panel * kPanelRows],
              begin + tiles * share / Config::kShare, begin + tiles * (share + 1) / Config::kShare,
              p.B + column, p.ldb, active, sums);
  }
  add_shares(sums);

  const Index row = panel * kPanelRows + lane / 4;
  if (warp % Config::kShare != 0 || row >= p.A.rows) return;
#pragma unroll
  for (int l = 0; l < Config::kLoads; ++l) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const Index column = slab + (8 * l + 2 * (lane % 4) + e) * Config::kWidth;
      Lane<T, Config::kWidth> sum;
#pragma unroll
      for (int v = 0; v < Config::kWidth; ++v) sum[v] = static_cast<T>(sums.values[l][v][e]);
      if (column < p.N) store(p.alpha, sum, p.beta, p.C + row * p.ldc + column);
    }
  }
}

template <class Config, class T>
void launch(const SpmmProduct<T>& product, const PanelsView<T>& panels, cudaStream_t stream) {
  const dim3 grid(blocks_for(panels.count(), Config::kPanels),
                  blocks_for(product.N, Config::kSlab));
  panel_mma_kernel<Config><<<grid, Config::kThreads, 0, stream>>>(product, panels);
  check_launch();
}

/// Warps a panel: enough panels fill the device alone, few need their tiles shared out.
int warps_per_panel(Index panels, Index tiles) {
  constexpr Index kEnoughWarps = 132 * 32;  // an H200's multiprocessors, 32 warps each
  constexpr Index kFewestTiles = 4;
  const Index wanted = std::min(kEnoughWarps / std::max<Index>(panels, 1),
                                tiles / (std::max<Index>(panels, 1) * kFewestTiles));
  return static_cast<int>(std::clamp<Index>(wanted, 1, 8));
}

}  // namespace

template <class T>
void launch_panel_mma(const SpmmProduct<T>& product, const Panels<T>& panels, cudaStream_t stream) {
  constexpr int kWidest = kVectorWidth<T>;
  const PanelsView<T>& view = panels.view();
  const auto launch_loads = [&]<int kWidth>() {
    const auto loads =
        static_cast<int>(std::min<Index>(4, (product.N + 8 * kWidth - 1) / (8 * kWidth)));
    dispatch_at_least<1, 2, 4>(loads, [&]<int kLoads>() {
      dispatch_at_least<1, 2, 4, 8>(
          warps_per_panel(view.count(), panels.tiles()), [&]<int kShare>() {
            launch<PanelMmaConfig<kWidth, kLoads, kShare>>(product, view, stream);
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
}

template void launch_panel_mma(const SpmmProduct<float>&, const Panels<float>&, cudaStream_t);
template void launch_panel_mma(const SpmmProduct<double>&, const Panels<double>&, cudaStream_t);

}  // namespace heddle::cuda
