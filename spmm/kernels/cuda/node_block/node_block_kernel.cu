#include <cuda_pipeline.h>

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_block_kernel.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_rows.hpp>

namespace heddle::detail::cuda {
namespace {

/// `kLoads` is the number of loads of a lane from one row of B, `kWidth` the columns in a load.
template <class TOf, class VOf, int b, int kWidthOf, int kLoadsOf>
struct NodeBlockConfig {
  using T = TOf;  // of the product
  using V = VOf;  // of A's stored values
  static constexpr int kNode = b;
  static constexpr int kWidth = kWidthOf;
  static constexpr int kLoads = kLoadsOf;
  static constexpr int kColumns = kWidth * kLoads;
  // Measured on one H200: 24 warps a multiprocessor beat 16, which have too few loads in flight,
  // and 32, which have too few registers. In single, two stages leave more of L1 to B than three.
  static constexpr bool kSingle = sizeof(T) == sizeof(float);
  static constexpr int kThreads = kSingle && b <= 4 ? 256 : 128;  // larger chunks: shared memory
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kBlocks = (b * kColumns * sizeof(T) <= 96 ? 24 : 16) / kWarps;
  static constexpr int kStages = kSingle || b > 4 ? 2 : 3;  // chunks of a node row on the way
  static constexpr int kPieces = b * b;                     // of a chunk
  // Groups lie an odd number of pieces apart, so that their loads use different banks.
  static constexpr int kPitch = kStages * kPieces | 1;
};

/// The values at one place of a chunk's blocks.
template <class Config>
using Piece = Lane<typename Config::V, kChunkBlocks<typename Config::T>>;

/// A lane group's node row, from its first chunk on.
template <class Config, class T>
struct NodeRow {
  const std::int32_t* columns;
  const Piece<Config>* pieces;
  int count;  ///< chunks

  /// Starts the copy of this lane's part of chunk `i`.
  __device__ void copy(int i, Piece<Config>* to, int lane, int lanes) const {
    if (i >= count) return;
    const Piece<Config>* const from = pieces + static_cast<Index>(i) * Config::kPieces;
    for (int piece = lane; piece < Config::kPieces; piece += lanes) {
      __pipeline_memcpy_async(to + piece, from + piece, sizeof(Piece<Config>));
    }
  }

  /// The node columns of chunk `i`, or of the last one.
  __device__ void load_columns(int i, std::int32_t (&to)[kChunkBlocks<T>]) const {
    const Index own = min(i, count - 1);
#pragma unroll
    for (int k = 0; k < kChunkBlocks<T>; ++k) {
      to[k] = count > 0 ? __ldg(columns + own * kChunkBlocks<T> + k) : 0;
    }
  }
};

/// A lane's columns of B.
template <class Config, class T>
struct LaneColumns {
  const T* first;  ///< the lane's first column of row 0
  unsigned pitch;
  std::int32_t last_row;
  int apart;   ///< columns from one load to the next
  Index left;  ///< columns of the block from the first on

  __device__ void load_from(std::int32_t row,
                            Lane<T, Config::kWidth> (&values)[Config::kLoads]) const {
    const std::int32_t own = min(row, last_row);
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      if (l * apart < left) values[l] = load_row<Config::kWidth>(first + l * apart, own, pitch);
    }
  }
};

template <class Config, class T>
struct NodeSums {
  Lane<T, Config::kWidth> values[Config::kNode][Config::kLoads];
};

/// sums += chunk · rows of B.
template <class Config, class T>
__device__ void add_chunk(const Piece<Config>* chunk, const std::int32_t (&nodes)[kChunkBlocks<T>],
                          const LaneColumns<Config, T>& B, NodeSums<Config, T>& sums) {
  constexpr int b = Config::kNode;
#pragma unroll
  for (int c = 0; c < b; ++c) {
    Lane<T, Config::kWidth> rows[kChunkBlocks<T>][Config::kLoads];
#pragma unroll
    for (int k = 0; k < kChunkBlocks<T>; ++k) B.load_from(nodes[k] * b + c, rows[k]);
#pragma unroll
    for (int i = 0; i < b; ++i) {
      const Piece<Config> a = chunk[c * b + i];
#pragma unroll
      for (int k = 0; k < kChunkBlocks<T>; ++k) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) {
          multiply_add(static_cast<T>(a[k]), rows[k][l], sums.values[i][l]);
        }
      }
    }
  }
}

/// sums += node row · B. All lanes of the warp take part. The copies of the next chunks to `ring`
/// are on the way while a chunk is multiplied.
template <class Config, class T>
__device__ void add_node_row(const NodeRow<Config, T>& row, Piece<Config>* ring, int lane,
                             int lanes, const LaneColumns<Config, T>& B,
                             NodeSums<Config, T>& sums) {
  constexpr int kStages = Config::kStages;
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    row.copy(s, ring + s * Config::kPieces, lane, lanes);
    __pipeline_commit();
  }
  std::int32_t nodes[kChunkBlocks<T>];
  row.load_columns(0, nodes);
  wait_for_previous_kernel();  // A's first chunks are on the way
  const int rounds = __reduce_max_sync(kFullWarp, row.count);
  int stage = 0;
  for (int i = 0; i < rounds; ++i) {
    __pipeline_wait_prior(kStages - 2);
    __syncwarp();  // also: all lanes have read the stage that is filled now
    const int free_stage = stage == 0 ? kStages - 1 : stage - 1;
    row.copy(i + kStages - 1, ring + free_stage * Config::kPieces, lane, lanes);
    __pipeline_commit();
    std::int32_t next[kChunkBlocks<T>];
    row.load_columns(i + 1, next);
    if (i < row.count) add_chunk(ring + stage * Config::kPieces, nodes, B, sums);
#pragma unroll
    for (int k = 0; k < kChunkBlocks<T>; ++k) nodes[k] = next[k];
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
}

/// How the columns of the product are dealt to lanes.
struct LaneShape {
  int lanes;    ///< of a group, which does a stripe of columns for a node row
  int groups;   ///< in a warp
  int stripes;  ///< of columns
};

template <class Config, class Product, class T = typename Product::Value>
__global__ __launch_bounds__(Config::kThreads, Config::kBlocks) void node_block_kernel(
    Product p, NodeRowsView<T, typename Config::V> rows, LaneShape shape) {
  constexpr int b = Config::kNode;
  extern __shared__ __align__(kVectorBytes) char staged[];
  const int warp = threadIdx.x / kWarpSize;
  const int group = threadIdx.x % kWarpSize / shape.lanes;
  const int lane = threadIdx.x % kWarpSize % shape.lanes;
  const Index unit =
      (static_cast<Index>(blockIdx.x) * Config::kWarps + warp) * shape.groups + group;
  const Index node = unit / shape.stripes;
  const bool active = group < shape.groups && node < rows.count;
  const int apart = shape.lanes * Config::kWidth;
  const Index column = unit % shape.stripes * (apart * Config::kLoads) + lane * Config::kWidth;

  NodeRow<Config, T> row{nullptr, nullptr, 0};
  if (active) {
    const Index begin = rows.chunk_begin[node];
    row = {rows.columns + begin * kChunkBlocks<T>,
           reinterpret_cast<const Piece<Config>*>(rows.values + begin * chunk_values<T>(b)),
           static_cast<int>(rows.chunk_begin[node + 1] - begin)};
  }
  Piece<Config>* const ring =
      reinterpret_cast<Piece<Config>*>(staged) + (warp * shape.groups + group) * Config::kPitch;
  const LaneColumns<Config, T> columns{
      p.B + column, b_pitch(p), static_cast<std::int32_t>(p.A.cols - 1), apart, p.N - column};
  NodeSums<Config, T> sums;
  add_node_row(row, ring, lane, shape.lanes, columns, sums);
  if (!active) return;
#pragma unroll
  for (int i = 0; i < b; ++i) {
    const Index own = node * b + i;
    if (own >= p.A.rows) break;
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      finish_columns(p, own, column + l * apart, sums.values[i][l]);
    }
  }
}

/// Lanes of a group are even in number, because groups of odd size divide the quarters of a warp
/// that load together, and at least four, because each group needs shared memory.
LaneShape lane_shape(Index N, int columns_per_lane) {
  constexpr int kFewestLanes = 4;
  const auto wanted = static_cast<int>((N + columns_per_lane - 1) / columns_per_lane);
  const int stripes = (wanted + kWarpSize - 1) / kWarpSize;
  const int even = ((wanted + stripes - 1) / stripes + 1) / 2 * 2;
  const int lanes = std::max(even, kFewestLanes);
  return {lanes, kWarpSize / lanes, stripes};
}

template <class Config, class Product, class T = typename Product::Value>
void launch(CudaContext& context, const Product& product,
            const NodeRowsView<T, typename Config::V>& rows) {
  constexpr int kSharedWithoutAsking = 48 * 1024;
  const LaneShape shape = lane_shape(product.N, Config::kColumns);
  const int shared =
      Config::kWarps * shape.groups * Config::kPitch * static_cast<int>(sizeof(Piece<Config>));
  if (shared > kSharedWithoutAsking) {
    check(cudaFuncSetAttribute(node_block_kernel<Config, Product>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  }
  const unsigned grid = blocks_for(rows.count * shape.stripes, Config::kWarps * shape.groups);
  launch_dependent(node_block_kernel<Config, Product>,
                   {grid, Config::kThreads, static_cast<std::size_t>(shared)}, context.stream(),
                   product, rows, shape);
}

template <class T, class V>
void launch_node_block(CudaContext& context, const SpmmProduct<T>& product,
                       const NodeRows<T, V>& rows) {
  // From here on, reading A less often outweighs longer ways of fewer warps (one H200).
  constexpr Index kWide = sizeof(T) == sizeof(double) ? 32 : 128;
  const bool aligned = blocks_are_aligned(product);
  dispatch_terms(product, [&](const auto& known) {
    dispatch_at_least<2, 3, 4, 5, 6, 7, 8>(rows.node_size(), [&]<int b>() {
      if (!aligned) {
        launch<NodeBlockConfig<T, V, b, 1, 2>>(context, known, rows.view());
      } else if (product.N < kWide) {
        launch<NodeBlockConfig<T, V, b, kVectorWidth<T>, 1>>(context, known, rows.view());
      } else {
        launch<NodeBlockConfig<T, V, b, kVectorWidth<T>, 2>>(context, known, rows.view());
      }
    });
  });
}

template <class T, class V>
class NodeBlockPlan : public KernelPlan<T, DeviceSpace> {
 public:
  NodeBlockPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : rows_(context, matrix.A, std::max(matrix.features.node_size, kSmallestNode)) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_node_block(context, product, rows_);
  }

 private:
  NodeRows<T, V> rows_;
};

}  // namespace

KernelMakers<DeviceSpace> NodeBlockKernel::makers() {
  return makers_by_values<NodeBlockKernel, NodeBlockPlan>();
}

}  // namespace heddle::detail::cuda
