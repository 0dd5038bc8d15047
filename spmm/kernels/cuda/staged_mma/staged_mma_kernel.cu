#include <cuda_pipeline.h>

#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/staged/piece_copies.cuh>
#include <heddle/spmm/kernels/cuda/staged_mma/staged_mma_kernel.hpp>
#include <heddle/spmm/kernels/cuda/staged_mma/tile_pieces.hpp>
#include <heddle/spmm/kernels/cuda/tensor_tiles.cuh>

namespace heddle::detail::cuda {
namespace {

/// A version of the kernel. On one H100, stripes of 256 bytes beat wider ones, whose sums leave
/// room for fewer warps, and several thread blocks with one stage each beat a ring of two stages.
template <class TOf, int kLoadsOf>
struct StagedMmaConfig {
  using T = TOf;
  static constexpr int kWidth = kVectorWidth<T>;  // columns of B in one load
  static constexpr int kLoads = kLoadsOf;         // loads of a lane from one row of B
  static constexpr int kStripe = 8 * kWidth * kLoads;
  static constexpr int kThreads = kBlockPanels * kWarpSize;
  static constexpr int kBlocks = 4;
  static constexpr int kUnroll = 4;
  // Four neighbouring rows of B lie in different banks.
  static constexpr int kPitch = kStripe * static_cast<int>(sizeof(T)) + 2 * kVectorBytes;
};

/// Where a thread block keeps a piece in shared memory, in bytes. Rows of B come first.
struct PieceMemory {
  int values;
  int headers;
  int places;
  int bytes;

  template <class Config, class V>
  static PieceMemory of(const TilePiecesView<V>& A) {
    constexpr int kPlaces = kTileColumns * static_cast<int>(sizeof(std::uint16_t));
    PieceMemory memory{};
    memory.values = A.most_columns * Config::kPitch;
    memory.headers = memory.values + A.most_values * static_cast<int>(sizeof(V));
    memory.places = memory.headers + A.most_tiles * static_cast<int>(sizeof(TileHeader));
    memory.bytes = memory.places + A.most_tiles * kPlaces;
    return memory;
  }
};

/// Starts the copies of a piece's part of A.
template <class V>
__device__ void copy_tiles(char* memory, const PieceMemory& at, const TilePiecesView<V>& A,
                           const PieceTiles& piece) {
  copy_part(memory + at.values, A.values + piece.first_value,
            piece.values * static_cast<int>(sizeof(V)));
  copy_part(memory + at.headers, A.headers + piece.first_tile,
            piece.tiles * static_cast<int>(sizeof(TileHeader)));
  copy_part(memory + at.places, A.places + piece.first_tile * kTileColumns,
            piece.tiles * kTileColumns * static_cast<int>(sizeof(std::uint16_t)));
}

/// Starts the copies of a piece's `count` rows of B, `kBytes` at a time. What lies behind the last
/// column becomes zero up to a multiple of kBytes.
template <class Config, int kBytes, class Product>
__device__ void copy_stripe(char* to, const Product& p, const std::int32_t* list, int count,
                            Index first_column) {
  using T = typename Config::T;
  constexpr int kValues = kBytes / static_cast<int>(sizeof(T));
  constexpr int kChunks = Config::kStripe / kValues;
  constexpr int kRows = Config::kThreads / kChunks;
  constexpr int kAtOnce = 4;
  const int chunk = static_cast<int>(threadIdx.x) % kChunks;
  const Index column = first_column + chunk * kValues;
  if (column >= p.N) return;
  const int absent = max(0, kValues - static_cast<int>(min(p.N - column, Index{kValues})));
  const char* const from = reinterpret_cast<const char*>(p.B + column);
  for (int r = static_cast<int>(threadIdx.x) / kChunks; r < count; r += kAtOnce * kRows) {
    std::uint32_t row[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (r + u * kRows < count) row[u] = static_cast<std::uint32_t>(__ldg(list + r + u * kRows));
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (r + u * kRows >= count) continue;
      __pipeline_memcpy_async(to + (r + u * kRows) * Config::kPitch + chunk * kBytes,
                              from + std::uint64_t{row[u]} * b_pitch(p), kBytes,
                              absent * sizeof(T));
    }
  }
}

/// Adds tiles first … last − 1 of a piece in shared memory to a warp's sums.
template <class Config, class V>
__device__ void add_tiles(const char* memory, const PieceMemory& at, int first, int last,
                          PanelSums<Config>& sums) {
  using Vector = Lane<typename Config::T, Config::kWidth>;
  constexpr int kUnroll = Config::kUnroll;
  const int lane = threadIdx.x % kWarpSize;
  const unsigned before = (1u << lane) - 1;
  const char* const B = memory + lane / kTileColumns * kVectorBytes;
  const auto* const values = reinterpret_cast<const V*>(memory + at.values);
  const auto* const headers = reinterpret_cast<const uint2*>(memory + at.headers);
  const auto* const places =
      reinterpret_cast<const std::uint16_t*>(memory + at.places) + lane % kTileColumns;
#pragma unroll 1
  for (int tile = first; tile < last; tile += kUnroll) {
    V a[kUnroll];
    int row[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int own = min(tile + u, last - 1);
      const uint2 header = headers[own];
      const bool present = tile + u < last && (header.x >> lane & 1u) != 0;
      a[u] = present ? values[header.y + __popc(header.x & before)] : V{0};
      row[u] = places[own * kTileColumns] * Config::kPitch;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      Vector b[Config::kLoads];
#pragma unroll
      for (int l = 0; l < Config::kLoads; ++l) {
        b[l] = *reinterpret_cast<const Vector*>(B + row[u] + l * 8 * kVectorBytes);
      }
#pragma unroll
      for (int l = 0; l < Config::kLoads; ++l) {
#pragma unroll
        for (int v = 0; v < Config::kWidth; ++v) multiply_tile(a[u], b[l][v], sums.values[l][v]);
      }
    }
  }
}

/// Ends the entries of `row` of C in a warp's sums. `first` is the first column of the stripe. With
/// `aligned`, rows of all blocks are aligned to 16 bytes.
template <class Config, class Product>
__device__ void finish_row(const Product& p, Index row, Index first, bool aligned,
                           const PanelSums<Config>& sums) {
  using T = typename Config::T;
#pragma unroll
  for (int l = 0; l < Config::kLoads; ++l) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const Index column = first + (8 * l + 2 * (threadIdx.x % kTileColumns) + e) * Config::kWidth;
      Lane<T, Config::kWidth> sum;
#pragma unroll
      for (int v = 0; v < Config::kWidth; ++v) sum[v] = static_cast<T>(sums.values[l][v][e]);
      if (aligned) {
        finish_columns(p, row, column, sum);
        continue;
      }
#pragma unroll
      for (int v = 0; v < Config::kWidth; ++v) {
        finish_columns(p, row, column + v, Lane<T, 1>{{sum[v]}});
      }
    }
  }
}

/// A thread block multiplies a row block in one stripe of columns, piece after piece.
template <class Config, class Product, class V>
__global__ __launch_bounds__(Config::kThreads, Config::kBlocks) void staged_mma_kernel(
    Product p, TilePiecesView<V> A, PieceMemory at, unsigned stripes, bool aligned) {
  using T = typename Config::T;
  extern __shared__ __align__(kVectorBytes) char memory[];
  const Index block = blockIdx.x / stripes;
  const Index first = static_cast<Index>(blockIdx.x % stripes) * Config::kStripe;
  const int panel = static_cast<int>(threadIdx.x) / kWarpSize;
  const Index first_piece = A.first_piece[block];
  const Index last_piece = A.first_piece[block + 1];
  const Index row = A.rows[block * kTileBlockRows + threadIdx.x / kTileColumns];
  PanelSums<Config> sums;
  for (Index index = first_piece; index < last_piece; ++index) {
    const RowPiece piece = A.pieces[index];
    const PieceTiles& tiles = A.tiles[index];
    const int first_tile = tiles.panel_tiles[panel];
    const int last_tile = tiles.panel_tiles[panel + 1];
    if (index > first_piece) __syncthreads();  // all warps have multiplied the piece before
    copy_tiles(memory, at, A, tiles);
    if (index == first_piece) wait_for_previous_kernel();
    const std::int32_t* const list = A.columns + piece.first_column;
    if (aligned) {
      copy_stripe<Config, kVectorBytes>(memory, p, list, piece.columns, first);
    } else {
      copy_stripe<Config, sizeof(T)>(memory, p, list, piece.columns, first);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    add_tiles<Config, V>(memory, at, first_tile, last_tile, sums);
  }
  if (row != kNoRow) finish_row(p, row, first, aligned, sums);
}

template <class Config, class Product, class V>
void launch(CudaContext& context, const Product& product, const TilePiecesView<V>& A) {
  const auto kernel = staged_mma_kernel<Config, Product, V>;
  const PieceMemory memory = PieceMemory::of<Config>(A);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, memory.bytes));
  const auto stripes = static_cast<unsigned>((product.N + Config::kStripe - 1) / Config::kStripe);
  launch_dependent(
      kernel,
      {blocks_for(A.blocks * stripes, 1), Config::kThreads, static_cast<std::size_t>(memory.bytes)},
      context.stream(), product, A, memory, stripes, blocks_are_aligned(product));
}

template <class T, class V>
class StagedMmaPlan : public KernelPlan<T, DeviceSpace> {
 public:
  StagedMmaPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : pieces_(context, matrix.A) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    using Narrow = StagedMmaConfig<T, 1>;
    dispatch_terms(product, [&](const auto& known) {
      if (product.N <= Narrow::kStripe) {
        launch<Narrow>(context, known, pieces_.view());
      } else {
        launch<StagedMmaConfig<T, 2>>(context, known, pieces_.view());
      }
    });
  }

 private:
  TilePieces<V> pieces_;
};

}  // namespace

KernelMakers<DeviceSpace> StagedMmaKernel::makers() { return makers_by_values<StagedMmaPlan>(); }

}  // namespace heddle::detail::cuda
