#include <cstdlib>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/node_block/launch_node_block.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kTileColumns = 16;

template <int b, int kLoadsOf, bool kVectorOf, int kWarpsOf = 0, int kUnrollOf = 0>
struct NodeTileConfig {
  static constexpr int kNode = b;
  static constexpr int kLoads = kLoadsOf;      // tiles of 16 columns of a warp
  static constexpr bool kVector = kVectorOf;   // a lane's two columns of a tile are neighbours
  static constexpr int kThreads = 128;
  static constexpr int kRows = kThreads / kWarpSize;  // a warp per node row
  static constexpr int kResident = kWarpsOf > 0 ? kWarpsOf : kLoads == 1 ? 32 : kLoads == 2 ? 24 : 16;
  static constexpr int kBlocks = kResident / kRows;
  static constexpr int kUnroll = kUnrollOf > 0 ? kUnrollOf : b * kLoads <= 3 ? 2 : 1;
};

/// sums += block·Aᵀ over a warp, with 16 columns of B, 4 of its rows, and 8 rows of A. Lane 4i + k
/// holds row k of B in the columns i (b[0]) and i + 8 (b[1]), and entry (i, k) of A. Lane 4i + q
/// holds the sums of rows 2q and 2q + 1 in column i (sums[0], sums[1]) and in column i + 8.
__device__ inline void multiply_tile(const Lane<double, 2>& b, double a, double (&sums)[4]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(b[0]), "d"(b[1]), "d"(a));
#else
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sums[2 * half]), "+d"(sums[2 * half + 1])
        : "d"(b[half]), "d"(a));
  }
#endif
}

/// A lane's columns of B: two in each tile of 16.
template <class Config>
struct TileColumns {
  const double* first;  ///< the lane's first column of row 0
  unsigned pitch;
  std::int32_t last_row;
  Index left;  ///< columns of the block from the first on

  static constexpr int kApart = Config::kVector ? 1 : 8;

  __device__ Lane<double, 2> load_from(std::int32_t row, int tile) const {
    const int at = kTileColumns * tile;
    const std::int32_t own = min(row, last_row);
    Lane<double, 2> values{};
    if constexpr (Config::kVector) {
      if (at < left) values = load_row<2>(first + at, own, pitch);
    } else {
      if (at < left) values[0] = load_row<1>(first + at, own, pitch)[0];
      if (at + kApart < left) values[1] = load_row<1>(first + at + kApart, own, pitch)[0];
    }
    return values;
  }
};

/// The part of a chunk that is loaded a round ahead.
template <class Config>
struct ChunkPart {
  std::int32_t column;
  double a[Config::kNode];

  __device__ void load(const NodeRowsView<double>& rows, Index chunk, Index end) {
    constexpr int b = Config::kNode;
    const int lane = threadIdx.x % kWarpSize;
    const bool exists = chunk < end;
    const Index own = exists ? chunk : end - 1;
    column = __ldg(rows.columns + own * kChunkBlocks + lane % kChunkBlocks);
    const double* const values = rows.values + own * chunk_values(b) + lane;
#pragma unroll
    for (int c = 0; c < b; ++c) {
      a[c] = exists && lane < kChunkBlocks * b ? __ldg(values + c * kChunkBlocks * b) : 0.0;
    }
  }
};

template <class Config>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void node_block_kernel(SpmmProduct<double> p,
                                                                     NodeRowsView<double> rows,
                                                                     int stripes) {
  constexpr int b = Config::kNode;
  constexpr int kUnroll = Config::kUnroll;
  const int lane = threadIdx.x % kWarpSize;
  const Index unit = static_cast<Index>(blockIdx.x) * Config::kRows + threadIdx.x / kWarpSize;
  const Index node = unit / stripes;
  if (node >= rows.count) return;
  const Index column = unit % stripes * (kTileColumns * Config::kLoads) +
                       lane / 4 * (Config::kVector ? 2 : 1);
  const TileColumns<Config> columns{p.B + column, b_pitch(p),
                                    static_cast<std::int32_t>(p.A.cols - 1), p.N - column};
  const Index begin = rows.chunk_begin[node];
  const Index end = rows.chunk_begin[node + 1];

  double sums[Config::kLoads][4] = {};
  ChunkPart<Config> parts[kUnroll];
  if (begin < end) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) parts[u].load(rows, begin + u, end);
  }
  for (Index chunk = begin; chunk < end; chunk += kUnroll) {
    Lane<double, 2> block[kUnroll][b][Config::kLoads];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int c = 0; c < b; ++c) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) {
          block[u][c][l] = columns.load_from(parts[u].column * b + c, l);
        }
      }
    }
    ChunkPart<Config> next[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) next[u].load(rows, chunk + kUnroll + u, end);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int c = 0; c < b; ++c) {
#pragma unroll
        for (int l = 0; l < Config::kLoads; ++l) {
          multiply_tile(block[u][c][l], parts[u].a[c], sums[l]);
        }
      }
      parts[u] = next[u];
    }
  }

#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int in_node = 2 * (lane % 4) + e;
    const Index row = node * b + in_node;
    if (in_node >= b || row >= p.A.rows) continue;
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      const Index at = column + kTileColumns * l;
      if (Config::kVector && at + 2 <= p.N) {
        finish<Storing::streaming>(p, row, at, Lane<double, 2>{{sums[l][e], sums[l][2 + e]}});
      } else {
        if (at < p.N) finish(p, row, at, Lane<double, 1>{{sums[l][e]}});
        if (at + columns.kApart < p.N) {
          finish(p, row, at + columns.kApart, Lane<double, 1>{{sums[l][2 + e]}});
        }
      }
    }
  }
}

template <class Config>
void launch(const SpmmProduct<double>& product, const NodeRowsView<double>& rows,
            CudaContext& context) {
  constexpr Index kStripe = kTileColumns * Config::kLoads;
  const Index stripes = (product.N + kStripe - 1) / kStripe;
  node_block_kernel<Config>
      <<<blocks_for(rows.count * stripes, Config::kRows), Config::kThreads, 0, context.stream()>>>(
          product, rows, static_cast<int>(stripes));
  check_launch();
}

int experiment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

}  // namespace

void launch_node_block(const SpmmProduct<double>& product, const NodeRows<double>& rows,
                       CudaContext& context) {
  const bool vector = product.N > 8 && blocks_are_aligned(product);
  const int tiles = experiment("HEDDLE_NODE_LOADS", static_cast<int>((product.N + kTileColumns - 1) / kTileColumns));
  const int warps = experiment("HEDDLE_NODE_WARPS", 0);
  const int unroll = experiment("HEDDLE_NODE_UNROLL", 0);
  if (rows.node_size() == 3 && vector) {
    dispatch_at_least<1, 2, 4>(tiles, [&]<int kLoads>() {
      dispatch_at_least<0, 16, 24, 32>(warps, [&]<int kWarps>() {
        dispatch_at_least<0, 1, 2, 3>(unroll, [&]<int kUnroll>() {
          launch<NodeTileConfig<3, kLoads, true, kWarps, kUnroll>>(product, rows.view(), context);
        });
      });
    });
    return;
  }
  dispatch_at_least<2, 3, 4, 5, 6, 7, 8>(rows.node_size(), [&]<int b>() {
    dispatch_at_least<1, 2, 4>(tiles, [&]<int kLoads>() {
      if (vector) {
        launch<NodeTileConfig<b, kLoads, true>>(product, rows.view(), context);
      } else {
        launch<NodeTileConfig<b, kLoads, false>>(product, rows.view(), context);
      }
    });
  });
}

}  // namespace heddle::detail::cuda
