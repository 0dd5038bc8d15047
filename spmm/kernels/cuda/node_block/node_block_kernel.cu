#include <cstdlib>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/mma.cuh>
#include <heddle/spmm/kernels/cuda/node_block/node_block_kernel.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_panels.hpp>

namespace heddle::detail::cuda {
namespace {

template <int b, int kWidthOf, int kLoadsOf, int kShareOf, int kBlocksOf, int kAheadOf>
struct NodeBlockConfig {
  using Shape = NodeShape<b>;
  static constexpr int kNode = b;
  static constexpr int kWidth = kWidthOf;  // columns of B in one load
  static constexpr int kLoads = kLoadsOf;  // loads of a lane from one row of B
  static constexpr int kShare = kShareOf;  // warps that share a panel's stripe
  static constexpr int kThreads = 256;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kUnits = kWarps / kShare;
  static constexpr int kStripe = 8 * kWidth * kLoads;
  static constexpr int kBlocks = kBlocksOf;
  static constexpr bool kAhead = kAheadOf != 0;
  static constexpr int kTiles = Shape::kPanelTiles;
  static constexpr int kSteps = Shape::kGroupTiles;
  static constexpr int kUnroll = kSteps >= 3 ? 1 : kSteps == 2 ? 2 : 3;
  static_assert(kWarps % kShare == 0);
};

/// The places of a lane's operands in a group.
template <class Config>
struct LanePlaces {
  using Shape = typename Config::Shape;
  int row_shift[Config::kTiles];    ///< 31 − node of the lane's row in tile t; −1: none
  int row_offset[Config::kTiles];   ///< of the row in its block
  int column[Config::kSteps];       ///< the node column's place in the group
  int inner[Config::kSteps];        ///< the column in its block

  __device__ LanePlaces() {
    const int lane = threadIdx.x % kWarpSize;
#pragma unroll
    for (int t = 0; t < Config::kTiles; ++t) {
      const int row = 8 * t + lane / 4;
      const int node = row / Config::kNode;
      row_shift[t] = node < Shape::kPanelNodes ? 31 - node : -1;
      row_offset[t] = row % Config::kNode * Config::kNode;
    }
#pragma unroll
    for (int s = 0; s < Config::kSteps; ++s) {
      const int k = 4 * s + lane % 4;
      column[s] = k / Config::kNode;
      inner[s] = k % Config::kNode;
    }
  }
};

/// What locates a group's operands.
template <class Config>
struct GroupHead {
  std::uint32_t present;
  std::uint32_t first_block;
  std::int32_t rows[Config::kSteps];  ///< of B
};

template <class Config, class T>
struct GroupOperands {
  T a[Config::kTiles][Config::kSteps];
  Lane<T, Config::kWidth> b[Config::kSteps][Config::kLoads];
};

template <class Config>
struct NodeSums {
  double values[Config::kTiles][Config::kLoads][Config::kWidth][2] = {};
};

/// The lane's columns of B, and which of them exist.
template <class Config, class T>
struct LaneColumns {
  const T* first;
  unsigned pitch;
  int left;     ///< columns of the block from the lane's first on
  bool vector;  ///< rows are aligned

  __device__ Lane<T, Config::kWidth> load_from(std::int32_t row, int l) const {
    const int own = left - l * 8 * Config::kWidth;
    const T* from = first + l * 8 * Config::kWidth;
    Lane<T, Config::kWidth> values{};
    if (vector) {
      if (own > 0) values = load_row<Config::kWidth>(from, row, pitch);
    } else {
#pragma unroll
      for (int v = 0; v < Config::kWidth; ++v) {
        if (v < own) values[v] = load_row<1>(from + v, row, pitch)[0];
      }
    }
    return values;
  }
};

template <class Config, class T>
__device__ GroupHead<Config> load_head(const NodePanelsView<T>& panels,
                                       const LanePlaces<Config>& places, Index group, Index last,
                                       std::int32_t last_row) {
  const Index own = min(group, last - 1);
  const uint2 header = __ldg(reinterpret_cast<const uint2*>(panels.groups) + own);
  GroupHead<Config> head{group < last ? header.x : 0u, header.y, {}};
#pragma unroll
  for (int s = 0; s < Config::kSteps; ++s) {
    const std::int32_t column =
        __ldg(panels.columns + own * Config::Shape::kGroupNodes + places.column[s]);
    head.rows[s] = min(column * Config::kNode + places.inner[s], last_row);
  }
  return head;
}

template <class Config, class T>
__device__ GroupOperands<Config, T> load_operands(const GroupHead<Config>& head, const T* values,
                                                  const LanePlaces<Config>& places,
                                                  const LaneColumns<Config, T>& columns) {
  constexpr int kBlockSize = Config::kNode * Config::kNode;
  GroupOperands<Config, T> operands;
  const T* const first = values + static_cast<Index>(head.first_block) * kBlockSize;
#pragma unroll
  for (int s = 0; s < Config::kSteps; ++s) {
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      operands.b[s][l] = columns.load_from(head.rows[s], l);
    }
#pragma unroll
    for (int t = 0; t < Config::kTiles; ++t) {
      const int shift = places.row_shift[t] - places.column[s] * Config::Shape::kPanelNodes;
      const std::uint32_t upto = head.present << shift;  // the block's bit is the highest
      const bool in_panel = Config::Shape::kPanelNodes * Config::kNode == 8 * Config::kTiles ||
                            places.row_shift[t] >= 0;
      const bool present = in_panel && static_cast<std::int32_t>(upto) < 0;
      const int offset =
          (__popc(upto) - 1) * kBlockSize + places.row_offset[t] + places.inner[s];
      operands.a[t][s] = present ? __ldg(first + offset) : T{0};
    }
  }
  return operands;
}

template <class Config, class T>
__device__ void add_operands(const GroupOperands<Config, T>& operands, NodeSums<Config>& sums) {
#pragma unroll
  for (int s = 0; s < Config::kSteps; ++s) {
#pragma unroll
    for (int t = 0; t < Config::kTiles; ++t) {
#pragma unroll
      for (int l = 0; l < Config::kLoads; ++l) {
#pragma unroll
        for (int v = 0; v < Config::kWidth; ++v) {
          multiply_tile(operands.a[t][s], operands.b[s][l][v], sums.values[t][l][v]);
        }
      }
    }
  }
}

/// Adds groups first … last − 1 of a panel whose values begin at `values`.
template <class Config, class T>
__device__ void add_groups(const NodePanelsView<T>& panels, const T* values, Index first,
                           Index last, std::int32_t last_row, const LanePlaces<Config>& places,
                           const LaneColumns<Config, T>& columns, NodeSums<Config>& sums) {
  if (first >= last) return;
  constexpr int kUnroll = Config::kUnroll;
  if constexpr (Config::kAhead) {
    GroupHead<Config> heads[kUnroll];
    GroupOperands<Config, T> operands[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) heads[u] = load_head(panels, places, first + u, last, last_row);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      operands[u] = load_operands<Config, T>(heads[u], values, places, columns);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      heads[u] = load_head(panels, places, first + kUnroll + u, last, last_row);
    }
    for (Index group = first; group < last; group += kUnroll) {
      GroupOperands<Config, T> next[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        next[u] = load_operands<Config, T>(heads[u], values, places, columns);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        heads[u] = load_head(panels, places, group + 2 * kUnroll + u, last, last_row);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) add_operands<Config>(operands[u], sums);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) operands[u] = next[u];
    }
  } else {
    GroupHead<Config> heads[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) heads[u] = load_head(panels, places, first + u, last, last_row);
    for (Index group = first; group < last; group += kUnroll) {
      GroupOperands<Config, T> operands[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        operands[u] = load_operands<Config, T>(heads[u], values, places, columns);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        heads[u] = load_head(panels, places, group + kUnroll + u, last, last_row);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) add_operands<Config>(operands[u], sums);
    }
  }
}

/// Adds the sums of the warps that share a panel to those of the first of them, pairwise in a fixed
/// order.
template <class Config>
__device__ void add_shares(NodeSums<Config>& sums) {
  if constexpr (Config::kShare > 1) {
    constexpr int kSums = 2 * Config::kTiles * Config::kWidth * Config::kLoads;
    __shared__ double shared[Config::kWarps / 2][kSums][kWarpSize];
    const int warp = threadIdx.x / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    const int share = warp % Config::kShare;
    const int first_slot = warp / Config::kShare * (Config::kShare / 2);
    double* own = &sums.values[0][0][0][0];
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

/// Ends the columns from `column` on of one row of C.
template <int kColumns, class Product, class T = typename Product::Value>
__device__ void store_sums(const Product& p, Index row, Index column, bool vector,
                           const double (&sums)[kColumns]) {
  constexpr int kPiece = kColumns < kVectorWidth<T> ? kColumns : kVectorWidth<T>;
#pragma unroll
  for (int first = 0; first < kColumns; first += kPiece) {
    Lane<T, kPiece> sum;
#pragma unroll
    for (int v = 0; v < kPiece; ++v) sum[v] = static_cast<T>(sums[first + v]);
    const Index at = column + first;
    if (vector && at + kPiece <= p.N) {
      finish(p, row, at, sum);
    } else {
#pragma unroll
      for (int v = 0; v < kPiece; ++v) {
        if (at + v < p.N) finish(p, row, at + v, Lane<T, 1>{{sum[v]}});
      }
    }
  }
}

template <class Config, class T>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void node_block_kernel(SpmmProduct<T> p,
                                                                     NodePanelsView<T> panels,
                                                                     int stripes, bool vector_load,
                                                                     bool vector_store) {
  using Shape = typename Config::Shape;
  const int warp = threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  const Index unit = static_cast<Index>(blockIdx.x) * Config::kUnits + warp / Config::kShare;
  const Index panel = unit / stripes;
  const Index stripe = unit % stripes * Config::kStripe;
  const bool active = panel < panels.count;

  NodeSums<Config> sums;
  if (active) {
    const Index begin = panels.group_begin[panel];
    const Index groups = panels.group_begin[panel + 1] - begin;
    const int share = warp % Config::kShare;
    const Index column = stripe + lane / 4 * Config::kWidth;
    const LaneColumns<Config, T> columns{p.B + column, b_pitch(p), static_cast<int>(p.N - column),
                                         vector_load};
    const LanePlaces<Config> places;
    add_groups<Config>(panels, panels.values + panels.block_begin[panel] * (Config::kNode * Config::kNode),
               begin + groups * share / Config::kShare,
               begin + groups * (share + 1) / Config::kShare,
               static_cast<std::int32_t>(p.A.cols - 1), places, columns, sums);
  }
  add_shares<Config>(sums);
  if (warp % Config::kShare != 0 || !active) return;
#pragma unroll
  for (int t = 0; t < Config::kTiles; ++t) {
    const int panel_row = 8 * t + lane / 4;
    const Index slot = panel * Shape::kPanelNodes + panel_row / Config::kNode;
    if (panel_row >= Shape::kPanelNodes * Config::kNode || slot >= panels.nodes) continue;
    const Index node = panels.order != nullptr ? panels.order[slot] : slot;
    const Index row = node * Config::kNode + panel_row % Config::kNode;
    if (row >= p.A.rows) continue;
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      double own[2 * Config::kWidth];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
#pragma unroll
        for (int v = 0; v < Config::kWidth; ++v) {
          own[e * Config::kWidth + v] = sums.values[t][l][v][e];
        }
      }
      const Index column = stripe + (8 * l + 2 * (lane % 4)) * Config::kWidth;
      store_sums(p, row, column, vector_store, own);
    }
  }
}

template <class Config, class T>
void launch(const SpmmProduct<T>& product, const NodePanelsView<T>& panels, bool vector_load,
            bool vector_store, cudaStream_t stream) {
  const Index stripes = (product.N + Config::kStripe - 1) / Config::kStripe;
  const unsigned grid = blocks_for(panels.count * stripes, Config::kUnits);
  node_block_kernel<Config><<<grid, Config::kThreads, 0, stream>>>(
      product, panels, static_cast<int>(stripes), vector_load, vector_store);
  check_launch();
}

template <class T>
bool blocks_are_aligned(const SpmmProduct<T>& product) noexcept {
  return rows_are_aligned(product.B, product.ldb) && rows_are_aligned(product.C, product.ldc) &&
         (product.delta == T{0} || rows_are_aligned(product.X, product.ldx)) &&
         (product.eta == T{0} || rows_are_aligned(product.Y, product.ldy));
}

int experiment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

template <class T>
void launch_node_block(const SpmmProduct<T>& product, const NodePanels<T>& panels,
                       cudaStream_t stream) {
  const bool vector_load = rows_are_aligned(product.B, product.ldb);
  const bool vector_store = blocks_are_aligned(product);
  const int stripe = experiment("HEDDLE_NODE_STRIPE", product.N <= 8 ? 8 : product.N <= 16 ? 16 : 32);
  const int blocks = experiment("HEDDLE_NODE_BLOCKS", 2);
  const int ahead = experiment("HEDDLE_NODE_AHEAD", 0);
  dispatch_at_least<3>(panels.node_size(), [&]<int b>() {
    dispatch_at_least<2, 3, 4>(blocks, [&]<int kBlocks>() {
      dispatch_at_least<0, 1>(ahead, [&]<int kAhead>() {
        if (stripe <= 8) {
          launch<NodeBlockConfig<b, 1, 1, 1, kBlocks, kAhead>>(product, panels.view(), vector_load, vector_store, stream);
        } else if (stripe <= 16) {
          launch<NodeBlockConfig<b, 2, 1, 1, kBlocks, kAhead>>(product, panels.view(), vector_load, vector_store, stream);
        } else {
          launch<NodeBlockConfig<b, 2, 2, 1, kBlocks, kAhead>>(product, panels.view(), vector_load, vector_store, stream);
        }
      });
    });
  });
}

template <class T>
class NodeBlockPlan : public KernelPlan<T, DeviceSpace> {
 public:
  NodeBlockPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : panels_(context, matrix.A, 3) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_node_block(product, panels_, context.stream());
  }

 private:
  NodePanels<T> panels_;
};

}  // namespace

KernelMakers<DeviceSpace> NodeBlockKernel::makers() {
  return makers_of<NodeBlockPlan, DeviceSpace>();
}

}  // namespace heddle::detail::cuda
