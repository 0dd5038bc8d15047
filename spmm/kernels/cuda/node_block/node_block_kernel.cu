#include <cuda_pipeline.h>

#include <cstdlib>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/node_block/node_block_kernel.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_rows.hpp>

namespace heddle::detail::cuda {
namespace {

template <class T, int b, int kWidthOf, int kLoadsOf, int kThreadsOf, int kBlocksOf, int kStagesOf>
struct NodeBlockConfig {
  using Chunk = NodeChunk<T, b>;
  static constexpr int kNode = b;
  static constexpr int kWidth = kWidthOf;  // columns of B in one load
  static constexpr int kLoads = kLoadsOf;  // loads of a lane from one row of B
  static constexpr int kColumns = kWidth * kLoads;
  static constexpr int kThreads = kThreadsOf;
  static constexpr int kBlocks = kBlocksOf;
  static constexpr int kStages = kStagesOf;  // chunks of a node row in shared memory
  // Groups lie an odd number of pieces apart, so that their loads use different banks.
  static constexpr int kPieces = Chunk::kPieces | 1;
};

struct Piece {
  uint4 bytes;
};

/// A lane group's node row, from its first chunk on.
template <class Config, class T>
struct NodeRow {
  using Chunk = typename Config::Chunk;
  const std::int32_t* columns;
  const T* values;
  int count;  ///< chunks

  /// Starts the copy of chunk `i`.
  __device__ void copy(int i, Piece* to, int lane, int lanes) const {
    if (i >= count) return;
    const Piece* const from =
        reinterpret_cast<const Piece*>(values + static_cast<Index>(i) * Chunk::kValues);
    for (int piece = lane; piece < Chunk::kPieces; piece += lanes) {
      __pipeline_memcpy_async(to + piece, from + piece, sizeof(Piece));
    }
  }

  __device__ void load_columns(int i, std::int32_t (&to)[Chunk::kBlocks]) const {
    const int own = min(i, count - 1);
#pragma unroll
    for (int block = 0; block < Chunk::kBlocks; ++block) {
      to[block] = count > 0 ? __ldg(columns + own * Chunk::kBlocks + block) : 0;
    }
  }
};

template <class Config, class T>
struct NodeSums {
  Lane<T, Config::kWidth> values[Config::kNode][Config::kLoads];
};

/// The places of a lane's loads in a row of B.
template <class Config>
struct LaneLoads {
  int column[Config::kLoads];  ///< −1: beyond the block
};

/// sums += chunk · rows of B.
template <class Config, class T>
__device__ void add_chunk(const Piece* chunk, const std::int32_t (&columns)[Config::Chunk::kBlocks],
                          const T* B, unsigned pitch, std::int32_t last_row,
                          const LaneLoads<Config>& loads, NodeSums<Config, T>& sums) {
  using Chunk = typename Config::Chunk;
  constexpr int b = Config::kNode;
#pragma unroll
  for (int v = 0; v < Chunk::kVectors; ++v) {
    Lane<T, Config::kWidth> rows[Chunk::kVector][Config::kLoads];
#pragma unroll
    for (int e = 0; e < Chunk::kVector; ++e) {
      const int inner = v * Chunk::kVector + e;
      const std::int32_t row = min(columns[inner / b] * b + inner % b, last_row);
#pragma unroll
      for (int l = 0; l < Config::kLoads; ++l) {
        if (loads.column[l] >= 0) {
          rows[e][l] = load_row<Config::kWidth>(B + loads.column[l], row, pitch);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < b; ++i) {
      const auto a = *reinterpret_cast<const Lane<T, Chunk::kVector>*>(chunk + v * b + i);
#pragma unroll
      for (int e = 0; e < Chunk::kVector; ++e) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) multiply_add(a[e], rows[e][l], sums.values[i][l]);
      }
    }
  }
}

/// Ends the entries of C from `column` on in one row.
template <class Product, class T, int kWidth>
__device__ void finish_lane(const Product& p, Index row, Index column, bool vector,
                            const Lane<T, kWidth>& sum) {
  if (vector && column + kWidth <= p.N) {
    finish<Storing::streaming>(p, row, column, sum);
  } else {
#pragma unroll
    for (int v = 0; v < kWidth; ++v) {
      if (column + v < p.N) finish(p, row, column + v, Lane<T, 1>{{sum[v]}});
    }
  }
}

/// How the columns of the product are dealt to lanes.
struct LaneShape {
  int lanes;    ///< of a group, which does the columns of a stripe for a node row
  int groups;   ///< in a warp
  int stripes;  ///< of columns
  bool vector;  ///< rows of the blocks are aligned
  bool rotate;
};

template <class Config, class Product, class T = typename Product::Value>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void node_block_kernel(Product p,
                                                                     NodeRowsView<T> rows,
                                                                     LaneShape shape) {
  extern __shared__ Piece staged[];
  const int warp = threadIdx.x / kWarpSize;
  const int group = threadIdx.x % kWarpSize / shape.lanes;
  const int lane = threadIdx.x % kWarpSize % shape.lanes;
  const Index unit =
      (static_cast<Index>(blockIdx.x) * (Config::kThreads / kWarpSize) + warp) * shape.groups + group;
  const Index place = unit / shape.stripes;
  const int step = shape.lanes * Config::kWidth;
  const Index column = unit % shape.stripes * (step * Config::kLoads) + lane * Config::kWidth;
  LaneLoads<Config> loads;
  const bool active = group < shape.groups && place < rows.count;
#pragma unroll
  for (int l = 0; l < Config::kLoads; ++l) {
    const Index at = column + (l + (shape.rotate ? group : 0)) % Config::kLoads * step;
    loads.column[l] = at < p.N ? static_cast<int>(at) : -1;
  }

  using Chunk = typename Config::Chunk;
  NodeRow<Config, T> own{nullptr, nullptr, 0};
  if (active) {
    const Index begin = rows.chunk_begin[place];
    own = {rows.columns + begin * Chunk::kBlocks, rows.values + begin * Chunk::kValues,
           static_cast<int>(rows.chunk_begin[place + 1] - begin)};
  }
  const int rounds = __reduce_max_sync(kFullWarp, own.count);
  // Lanes without a group never copy.
  Piece* const ring = staged + (warp * shape.groups + min(group, shape.groups - 1)) *
                                   (Config::kStages * Config::kPieces);
#pragma unroll
  for (int s = 0; s < Config::kStages - 1; ++s) {
    own.copy(s, ring + s * Config::kPieces, lane, shape.lanes);
    __pipeline_commit();
  }
  NodeSums<Config, T> sums;
  std::int32_t columns[Chunk::kBlocks];
  own.load_columns(0, columns);
  int stage = 0;
  for (int i = 0; i < rounds; ++i) {
    __pipeline_wait_prior(Config::kStages - 2);
    __syncwarp();
    const int free_stage = stage == 0 ? Config::kStages - 1 : stage - 1;
    own.copy(i + Config::kStages - 1, ring + free_stage * Config::kPieces, lane, shape.lanes);
    __pipeline_commit();
    std::int32_t next[Chunk::kBlocks];
    own.load_columns(i + 1, next);
    if (i < own.count) {
      add_chunk<Config>(ring + stage * Config::kPieces, columns, p.B, b_pitch(p),
                        static_cast<std::int32_t>(p.A.cols - 1), loads, sums);
    }
#pragma unroll
    for (int block = 0; block < Chunk::kBlocks; ++block) columns[block] = next[block];
    stage = stage + 1 == Config::kStages ? 0 : stage + 1;
  }
  if (!active) return;
  const Index node = rows.order != nullptr ? rows.order[place] : place;
#pragma unroll
  for (int i = 0; i < Config::kNode; ++i) {
    const Index row = node * Config::kNode + i;
    if (row >= p.A.rows) break;
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      if (loads.column[l] >= 0) {
        finish_lane(p, row, loads.column[l], shape.vector, sums.values[i][l]);
      }
    }
  }
}

/// Whether every row of the product's blocks is aligned to 16 bytes. The widths of rows may end
/// within a vector of B.
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

template <class Config, class Product, class T = typename Product::Value>
void launch(const Product& product, const NodeRowsView<T>& rows, bool vector, cudaStream_t stream) {
  const auto columns = static_cast<int>((product.N + Config::kColumns - 1) / Config::kColumns);
  const int most = experiment("HEDDLE_NODE_LANES", kWarpSize);
  const int stripes = (columns + most - 1) / most;
  const int lanes = (columns + stripes - 1) / stripes;
  const LaneShape shape{lanes, kWarpSize / lanes, stripes, vector, experiment("HEDDLE_NODE_ROTATE", 1) != 0};
  constexpr int kWarps = Config::kThreads / kWarpSize;
  const std::size_t shared = sizeof(Piece) * static_cast<std::size_t>(
                             kWarps * shape.groups * Config::kStages * Config::kPieces);
  if (shared > 48 * 1024) {
    check(cudaFuncSetAttribute(node_block_kernel<Config, Product>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  }
  const unsigned grid = blocks_for(rows.count * stripes, kWarps * shape.groups);
  node_block_kernel<Config><<<grid, Config::kThreads, shared, stream>>>(product, rows, shape);
  check_launch();
}

template <class T>
void launch_node_block(const SpmmProduct<T>& product, const NodeRows<T>& rows,
                       cudaStream_t stream) {
  const bool vector = blocks_are_aligned(product);
  const int loads = experiment("HEDDLE_NODE_LOADS", 2);
  const int threads = experiment("HEDDLE_NODE_THREADS", 256);
  const int warps = experiment("HEDDLE_NODE_WARPS", 24);
  const int stages = experiment("HEDDLE_NODE_STAGES", 3);
  dispatch_terms(product, [&]<class Product>(const Product& known) {
    dispatch_at_least<3>(rows.node_size(), [&]<int b>() {
      dispatch_at_least<1, 2, 4>(loads, [&]<int kLoads>() {
        dispatch_at_least<16, 24>(warps, [&]<int kWarps>() {
          dispatch_at_least<128, 256, 512>(threads, [&]<int kThreads>() {
            dispatch_at_least<2, 3>(stages, [&]<int kStages>() {
              constexpr int kBlocks = kWarps * kWarpSize / kThreads;
              launch<NodeBlockConfig<T, b, kVectorWidth<T>, kLoads, kThreads, kBlocks, kStages>>(
                  known, rows.view(), vector, stream);
            });
          });
        });
      });
    });
  });
}

template <class T>
class NodeBlockPlan : public KernelPlan<T, DeviceSpace> {
 public:
  NodeBlockPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : rows_(context, matrix.A, std::max(matrix.features.node_size, kSmallestNode)) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_node_block(product, rows_, context.stream());
  }

 private:
  NodeRows<T> rows_;
};

}  // namespace

KernelMakers<DeviceSpace> NodeBlockKernel::makers() {
  return makers_of<NodeBlockPlan, DeviceSpace>();
}

}  // namespace heddle::detail::cuda
