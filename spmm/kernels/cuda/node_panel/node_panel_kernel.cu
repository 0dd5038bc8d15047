#include <cstdlib>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/node_panel/node_panel_kernel.hpp>
#include <heddle/spmm/kernels/cuda/node_panel/node_panels.hpp>

namespace heddle::detail::cuda {
namespace {

template <int b, int kLoadsOf, int kBlocksOf>
struct NodePanelConfig {
  using Shape = NodeShape<b>;
  static constexpr int kNode = b;
  static constexpr int kLoads = kLoadsOf;  // loads of a lane from one row of B, of 2 columns
  static constexpr int kThreads = 128;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kStripe = 16 * kLoads;
  static constexpr int kBlocks = kBlocksOf;
  static constexpr int kTiles = Shape::kPanelTiles;
  static constexpr int kSteps = Shape::kGroupTiles;
  static constexpr int kUnroll = kSteps >= 3 ? 1 : kSteps == 2 ? 2 : 3;
};

/// c += bᵀ·aᵀ over a warp with 16 columns of the block and 8 rows of A: lane 4i + k holds rows k of
/// columns i (b[0]) and i + 8 (b[1]) of the block, and entry (i, k) of A. Lane 4i + q holds the
/// sums of rows 2q, 2q + 1 in column i (c[0], c[1]) and in column i + 8 (c[2], c[3]).
__device__ inline void multiply_tile(const double (&b)[2], double a, double (&c)[4]) {
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(b[0]), "d"(b[1]), "d"(a));
}

template <class Config>
struct GroupHead {
  std::uint32_t present;
  std::uint32_t first_block;
  std::int32_t rows[Config::kSteps];  ///< of B
};

template <class Config>
struct NodeSums {
  double values[Config::kTiles][Config::kLoads][4] = {};
};

template <class Config, class T>
__device__ GroupHead<Config> load_head(const NodePanelsView<T>& panels, int group, int count,
                                       Index first, std::int32_t last_row) {
  const int lane = threadIdx.x % kWarpSize;
  const Index own = first + min(group, count - 1);
  const uint2 header = __ldg(reinterpret_cast<const uint2*>(panels.groups) + own);
  GroupHead<Config> head{group < count ? header.x : 0u, header.y, {}};
  const std::int32_t* const columns = panels.columns + own * Config::Shape::kGroupNodes;
#pragma unroll
  for (int s = 0; s < Config::kSteps; ++s) {
    const int inner = 4 * s + lane % 4;
    const std::int32_t column = __ldg(columns + inner / Config::kNode);
    head.rows[s] = min(column * Config::kNode + inner % Config::kNode, last_row);
  }
  return head;
}

template <class Config, class T>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void node_panel_kernel(SpmmProduct<T> p,
                                                                     NodePanelsView<T> panels,
                                                                     int stripes) {
  using Shape = typename Config::Shape;
  constexpr int kUnroll = Config::kUnroll;
  constexpr int kBlockSize = Config::kNode * Config::kNode;
  const int lane = threadIdx.x % kWarpSize;
  const Index unit =
      static_cast<Index>(blockIdx.x) * Config::kWarps + threadIdx.x / kWarpSize;
  const Index panel = unit / stripes;
  if (panel >= panels.count) return;
  const Index column = unit % stripes * Config::kStripe + lane / 4 * 2;
  const unsigned before = (1u << lane) - 1;
  const auto last_row = static_cast<std::int32_t>(p.A.cols - 1);
  std::uint32_t bits[Config::kTiles][Config::kSteps];
#pragma unroll
  for (int t = 0; t < Config::kTiles; ++t) {
#pragma unroll
    for (int s = 0; s < Config::kSteps; ++s) bits[t][s] = Shape::block_bit(t, s, lane);
  }
  bool active[Config::kLoads];
#pragma unroll
  for (int l = 0; l < Config::kLoads; ++l) active[l] = column + 16 * l < p.N;

  NodeSums<Config> sums;
  const Index first = panels.group_begin[panel];
  const int count = static_cast<int>(panels.group_begin[panel + 1] - first);
  const T* const values = panels.values + panels.block_begin[panel] * kBlockSize;
  const T* const B = p.B + column;
  const unsigned pitch = b_pitch(p);
  GroupHead<Config> heads[kUnroll];
  if (count > 0) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      heads[u] = load_head<Config>(panels, u, count, first, last_row);
    }
  }
  for (int group = 0; group < count; group += kUnroll) {
    T a[kUnroll][Config::kSteps][Config::kTiles];
    Lane<T, 2> b[kUnroll][Config::kSteps][Config::kLoads];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const T* from = values + static_cast<Index>(heads[u].first_block) * kBlockSize;
#pragma unroll
      for (int s = 0; s < Config::kSteps; ++s) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) {
          if (active[l]) b[u][s][l] = load_row<2>(B + 16 * l, heads[u].rows[s], pitch);
        }
#pragma unroll
        for (int t = 0; t < Config::kTiles; ++t) {
          const bool present = (heads[u].present & bits[t][s]) != 0;
          const unsigned all = __ballot_sync(kFullWarp, present);
          a[u][s][t] = present ? __ldg(from + __popc(all & before)) : T{0};
          from += __popc(all);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      heads[u] = load_head<Config>(panels, group + kUnroll + u, count, first, last_row);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int s = 0; s < Config::kSteps; ++s) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) {
          const double own[2] = {static_cast<double>(b[u][s][l][0]),
                                 static_cast<double>(b[u][s][l][1])};
#pragma unroll
          for (int t = 0; t < Config::kTiles; ++t) {
            multiply_tile(own, static_cast<double>(a[u][s][t]), sums.values[t][l]);
          }
        }
      }
    }
  }
#pragma unroll
  for (int t = 0; t < Config::kTiles; ++t) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int panel_row = 8 * t + 2 * (lane % 4) + e;
      const Index slot = panel * Shape::kPanelNodes + panel_row / Config::kNode;
      if (panel_row >= Shape::kPanelNodes * Config::kNode || slot >= panels.nodes) continue;
      const Index node = panels.order != nullptr ? panels.order[slot] : slot;
      const Index row = node * Config::kNode + panel_row % Config::kNode;
      if (row >= p.A.rows) continue;
#pragma unroll
      for (int l = 0; l < Config::kLoads; ++l) {
        const Lane<T, 2> sum = {{static_cast<T>(sums.values[t][l][e]),
                                 static_cast<T>(sums.values[t][l][2 + e])}};
        const Index at = column + 16 * l;
        if (at + 2 <= p.N) {
          finish<Storing::streaming>(p, row, at, sum);
        } else if (at < p.N) {
          finish(p, row, at, Lane<T, 1>{{sum[0]}});
        }
      }
    }
  }
}

template <class Config, class T>
void launch(const SpmmProduct<T>& product, const NodePanelsView<T>& panels, cudaStream_t stream) {
  const Index stripes = (product.N + Config::kStripe - 1) / Config::kStripe;
  const unsigned grid = blocks_for(panels.count * stripes, Config::kWarps);
  node_panel_kernel<Config>
      <<<grid, Config::kThreads, 0, stream>>>(product, panels, static_cast<int>(stripes));
  check_launch();
}

int experiment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

template <class T>
void launch_node_panel(const SpmmProduct<T>& product, const NodePanels<T>& panels,
                       cudaStream_t stream) {
  const int loads = experiment("HEDDLE_NODE_LOADS", 1);
  const int blocks = experiment("HEDDLE_NODE_BLOCKS", 4);
  dispatch_at_least<3>(panels.node_size(), [&]<int b>() {
    dispatch_at_least<1, 2, 4>(loads, [&]<int kLoads>() {
      dispatch_at_least<2, 3, 4, 5, 6>(blocks, [&]<int kBlocks>() {
        launch<NodePanelConfig<b, kLoads, kBlocks>>(product, panels.view(), stream);
      });
    });
  });
}

template <class T>
class NodePanelPlan : public KernelPlan<T, DeviceSpace> {
 public:
  NodePanelPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : panels_(context, matrix.A, matrix.features.node_size) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_node_panel(product, panels_, context.stream());
  }

 private:
  NodePanels<T> panels_;
};

}  // namespace

KernelMakers<DeviceSpace> NodePanelKernel::makers() {
  return makers_of<NodePanelPlan, DeviceSpace>();
}

}  // namespace heddle::detail::cuda
