#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/node_block/launch_node_block.hpp>

namespace heddle::detail::cuda {
namespace {

template <int b, bool kVectorOf, int kThreadsOf = 256, int kStagesOf = 2, int kResidentOf = 24>
struct NodeLanesConfig {
  static constexpr int kNode = b;
  static constexpr bool kVector = kVectorOf;           // a lane's columns are neighbours
  static constexpr int kWidth = kVector ? 4 : 1;       // columns in one load
  static constexpr int kLoads = kVector ? 1 : 4;       // loads of a lane from a row of B
  static constexpr int kColumns = kWidth * kLoads;
  static constexpr int kThreads = kThreadsOf;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kBlocks = kResidentOf / kWarps;
  static constexpr int kStages = kStagesOf;  // chunks of a node row in shared memory
  static constexpr int kPieces = b * b;      // of 16 bytes in a chunk
  // Groups lie an odd number of pieces apart, so that their loads use different banks.
  static constexpr int kPitch = kStages * kPieces | 1;
};

/// The values at one place of a chunk's four blocks.
using Piece = Lane<float, 4>;

/// A lane group's node row, from its first chunk on.
template <class Config>
struct NodeRow {
  const std::int32_t* columns;
  const Piece* pieces;
  int count;  ///< chunks

  /// Starts the copy of chunk `i`.
  __device__ void copy(int i, Piece* to, int lane, int lanes) const {
    if (i >= count) return;
    const Piece* const from = pieces + static_cast<Index>(i) * Config::kPieces;
    for (int piece = lane; piece < Config::kPieces; piece += lanes) {
      __pipeline_memcpy_async(to + piece, from + piece, sizeof(Piece));
    }
  }

  /// The node columns of chunk `i`, or of the last one.
  __device__ int4 columns_of(int i) const {
    if (count == 0) return {};
    return __ldg(reinterpret_cast<const int4*>(columns) + min(i, count - 1));
  }
};

/// A lane's columns of B.
template <class Config>
struct LaneColumns {
  const float* first;  ///< the lane's first column of row 0
  unsigned pitch;
  std::int32_t last_row;
  int apart;   ///< columns from one load to the next
  Index left;  ///< columns of the block from the first on

  __device__ void load_from(std::int32_t row,
                            Lane<float, Config::kWidth> (&values)[Config::kLoads]) const {
    const std::int32_t own = min(row, last_row);
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      if (l * apart < left) values[l] = load_row<Config::kWidth>(first + l * apart, own, pitch);
    }
  }
};

template <class Config>
struct NodeSums {
  Lane<float, Config::kWidth> values[Config::kNode][Config::kLoads];
};

/// sums += chunk · rows of B.
template <class Config>
__device__ void add_chunk(const Piece* chunk, const int4& nodes, const LaneColumns<Config>& B,
                          NodeSums<Config>& sums) {
  constexpr int b = Config::kNode;
  const std::int32_t node[kChunkBlocks] = {nodes.x, nodes.y, nodes.z, nodes.w};
#pragma unroll
  for (int c = 0; c < b; ++c) {
    Lane<float, Config::kWidth> rows[kChunkBlocks][Config::kLoads];
#pragma unroll
    for (int k = 0; k < kChunkBlocks; ++k) B.load_from(node[k] * b + c, rows[k]);
#pragma unroll
    for (int i = 0; i < b; ++i) {
      const Piece a = chunk[c * b + i];
#pragma unroll
      for (int k = 0; k < kChunkBlocks; ++k) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) multiply_add(a[k], rows[k][l], sums.values[i][l]);
      }
    }
  }
}

/// How the columns of the product are dealt to lanes.
struct LaneShape {
  int lanes;    ///< of a group, which does a stripe of columns for a node row
  int groups;   ///< in a warp
  int stripes;  ///< of columns
};

template <class Config, class Product>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void node_block_kernel(Product p,
                                                                     NodeRowsView<float> rows,
                                                                     LaneShape shape) {
  constexpr int b = Config::kNode;
  constexpr int kStages = Config::kStages;
  extern __shared__ Piece staged[];
  const int warp = threadIdx.x / kWarpSize;
  const int group = threadIdx.x % kWarpSize / shape.lanes;
  const int lane = threadIdx.x % kWarpSize % shape.lanes;
  const Index unit =
      (static_cast<Index>(blockIdx.x) * Config::kWarps + warp) * shape.groups + group;
  const Index node = unit / shape.stripes;
  const bool active = group < shape.groups && node < rows.count;
  const int apart = shape.lanes * Config::kWidth;
  const Index column = unit % shape.stripes * (apart * Config::kLoads) + lane * Config::kWidth;
  const LaneColumns<Config> columns{p.B + column, b_pitch(p),
                                    static_cast<std::int32_t>(p.A.cols - 1), apart,
                                    p.N - column};
  NodeRow<Config> own{nullptr, nullptr, 0};
  if (active) {
    const Index begin = rows.chunk_begin[node];
    own = {rows.columns + begin * kChunkBlocks,
           reinterpret_cast<const Piece*>(rows.values + begin * chunk_values(b)),
           static_cast<int>(rows.chunk_begin[node + 1] - begin)};
  }
  const int rounds = __reduce_max_sync(kFullWarp, own.count);
  Piece* const ring =
      staged + (warp * shape.groups + min(group, shape.groups - 1)) * Config::kPitch;
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    own.copy(s, ring + s * Config::kPieces, lane, shape.lanes);
    __pipeline_commit();
  }
  NodeSums<Config> sums;
  int4 nodes = own.columns_of(0);
  int stage = 0;
  for (int i = 0; i < rounds; ++i) {
    __pipeline_wait_prior(kStages - 2);
    __syncwarp();
    const int free_stage = stage == 0 ? kStages - 1 : stage - 1;
    own.copy(i + kStages - 1, ring + free_stage * Config::kPieces, lane, shape.lanes);
    __pipeline_commit();
    const int4 next = own.columns_of(i + 1);
    if (i < own.count) add_chunk(ring + stage * Config::kPieces, nodes, columns, sums);
    nodes = next;
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  if (!active) return;
#pragma unroll
  for (int i = 0; i < b; ++i) {
    const Index row = node * b + i;
    if (row >= p.A.rows) break;
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      const Index at = column + l * apart;
      if (at + Config::kWidth <= p.N) {
        finish<Storing::streaming>(p, row, at, sums.values[i][l]);
      } else {
#pragma unroll
        for (int v = 0; v < Config::kWidth; ++v) {
          if (at + v < p.N) finish(p, row, at + v, Lane<float, 1>{{sums.values[i][l][v]}});
        }
      }
    }
  }
}

int experiment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

LaneShape lane_shape(Index N, int columns_per_lane) {
  const auto lanes = static_cast<int>((N + columns_per_lane - 1) / columns_per_lane);
  const int stripes = (lanes + kWarpSize - 1) / kWarpSize;
  int own = (lanes + stripes - 1) / stripes;
  if (experiment("HEDDLE_NODE_ROUND", 1) != 0) own = static_cast<int>(std::bit_ceil(static_cast<unsigned>(own)));
  own = std::max(own, 4);
  return {own, kWarpSize / own, stripes};
}

template <class Config, class Product>
void launch(const Product& product, const NodeRowsView<float>& rows, CudaContext& context) {
  const LaneShape shape = lane_shape(product.N, Config::kColumns);
  const std::size_t shared =
      sizeof(Piece) * static_cast<std::size_t>(Config::kWarps * shape.groups * Config::kPitch);
  if (shared > 48 * 1024) {
    check(cudaFuncSetAttribute(node_block_kernel<Config, Product>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  }
  const unsigned grid = blocks_for(rows.count * shape.stripes, Config::kWarps * shape.groups);
  node_block_kernel<Config><<<grid, Config::kThreads, shared, context.stream()>>>(product, rows, shape);
  check_launch();
}

}  // namespace

void launch_node_block(const SpmmProduct<float>& product, const NodeRows<float>& rows,
                       CudaContext& context) {
  const bool vector = blocks_are_aligned(product);
  const int threads = experiment("HEDDLE_NODE_THREADS", 0);
  const int stages = experiment("HEDDLE_NODE_STAGES", 2);
  const int warps = experiment("HEDDLE_NODE_WARPS", 24);
  dispatch_terms(product, [&](const auto& known) {
    if (vector && rows.node_size() == 3 && threads != 0) {
      dispatch_at_least<128, 256>(threads, [&]<int kThreads>() {
        dispatch_at_least<2, 3>(stages, [&]<int kStages>() {
          dispatch_at_least<16, 20, 24, 32>(warps, [&]<int kWarps>() {
            launch<NodeLanesConfig<3, true, kThreads, kStages, kWarps>>(known, rows.view(), context);
          });
        });
      });
      return;
    }
    dispatch_at_least<2, 3, 4, 5, 6, 7, 8>(rows.node_size(), [&]<int b>() {
      if (vector) {
        launch<NodeLanesConfig<b, true>>(known, rows.view(), context);
      } else {
        launch<NodeLanesConfig<b, false>>(known, rows.view(), context);
      }
    });
  });
}

}  // namespace heddle::detail::cuda
