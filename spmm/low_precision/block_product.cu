#include <climits>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/block_mma.cuh>
#include <heddle/spmm/low_precision/block_product.hpp>

namespace heddle::detail {
namespace {

constexpr int kWarps = 4;   // per thread block
constexpr int kStages = 3;  // one block is multiplied while two are copied
constexpr Index kMostBlocks = 1 << 16;

unsigned blocks_for(Index items, Index per_block) {
  return static_cast<unsigned>(ceil_div(items, per_block));
}

/// Stores the sum of row `position` of the order in C.
template <class V>
__device__ void store(const BlockProduct<V>& p, Index position, Index column, float sum) {
  if (position >= p.rows || column >= p.N) return;
  const Index row = p.row_order == nullptr ? position : p.row_order[position];
  p.C[row * p.ldc + column] = ldexpf(sum, -p.row_exponents[row] - p.column_exponents[column]);
}

/// A warp multiplies the blocks of a unit by a slab of columns. blockIdx.y is the slab.
template <class V, int kTiles>
__global__ __launch_bounds__(kWarps* kWarp) void block_product_kernel(BlockProduct<V> p) {
  using Sizes = BlockSizes<V, kTiles>;
  __shared__ __align__(16) char memory[kWarps * kStages * Sizes::kStage];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const Index unit = static_cast<Index>(blockIdx.x) * kWarps + warp;
  if (unit >= p.units) return;  // the warps of a thread block share nothing
  const BlockUnit work = p.schedule[unit];
  const Index column = static_cast<Index>(blockIdx.y) * kTiles * kTileColumns;
  char* stages = memory + warp * kStages * Sizes::kStage;

  const auto begin_copy = [&](Index block) {
    if (block < work.end) {
      const Index row_of_B = static_cast<Index>(__ldg(p.columns + block)) * Sizes::kInner;
      copy_block<V, kTiles>(
          stages + (block - work.first) % kStages * Sizes::kStage,
          reinterpret_cast<const char*>(p.values + block * kBlockRows * Sizes::kInner),
          reinterpret_cast<const char*>(p.B + row_of_B * p.pitch + column),
          p.pitch * static_cast<Index>(sizeof(V)), lane);
    }
    __pipeline_commit();
  };

  float sums[kTiles][4] = {};
#pragma unroll
  for (int ahead = 0; ahead < kStages - 1; ++ahead) begin_copy(work.first + ahead);
  for (Index block = work.first; block < work.end; ++block) {
    __pipeline_wait_prior(kStages - 2);
    __syncwarp();  // all lanes' copies have come, and all lanes are done with the oldest stage
    begin_copy(block + kStages - 1);
    const char* stage = stages + (block - work.first) % kStages * Sizes::kStage;
    std::uint32_t a[4];
    load_fragments_of_A(a, stage, Sizes::kPitchOfA, lane);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      std::uint32_t b[2];
      const char* of_tile =
          stage + Sizes::kBytesOfA + tile * kTileColumns * static_cast<int>(sizeof(V));
      load_fragments_of_B(b, of_tile, Sizes::kPitchOfB, lane, decltype(V::bits){});
      multiply_add(sums[tile], a, b, V{});
    }
  }
  __pipeline_wait_prior(0);

#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int row = lane / 4 + k / 2 * 8;
      const Index at = column + tile * kTileColumns + lane % 4 * 2 + k % 2;
      if (work.slot >= 0) {
        p.partial[(static_cast<Index>(work.slot) * kBlockRows + row) * p.pitch + at] =
            sums[tile][k];
      } else {
        store(p, static_cast<Index>(work.block_row) * kBlockRows + row, at, sums[tile][k]);
      }
    }
  }
}

/// Adds the sums of the pieces of block rows, in the order of the pieces. A thread per entry of C.
template <class V>
__global__ void add_pieces_kernel(BlockProduct<V> p) {
  const SplitRow split = p.split[blockIdx.x];
  for (Index k = threadIdx.x; k < kBlockRows * p.N; k += blockDim.x) {
    const Index row = k / p.N;
    const Index column = k % p.N;
    float sum = 0;
    for (Index slot = split.first_slot; slot < split.end_slot; ++slot) {
      sum += p.partial[(slot * kBlockRows + row) * p.pitch + column];
    }
    store(p, static_cast<Index>(split.block_row) * kBlockRows + row, column, sum);
  }
}

/// Largest exponents. Maxima do not depend on the order in which atomics take them.
template <class T>
__global__ void exponents_kernel(const T* B, Index rows, Index N, Index ld, std::int32_t* largest) {
  const Index column = static_cast<Index>(blockIdx.y) * kWarp + threadIdx.x % kWarp;
  if (column >= N) return;
  int most = INT_MIN;
  const Index step = static_cast<Index>(gridDim.x) * (blockDim.x / kWarp);
  for (Index row = static_cast<Index>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
       row < rows; row += step) {
    const T value = B[row * ld + column];
    if (value != T{0} && isfinite(value)) most = max(most, ilogb(value));
  }
  if (most != INT_MIN) atomicMax(largest + column, most);
}

__global__ void fill_kernel(std::int32_t* exponents, Index N, std::int32_t value) {
  const Index column = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column < N) exponents[column] = value;
}

__global__ void scaling_kernel(std::int32_t* exponents, Index N) {
  const Index column = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= N) return;
  exponents[column] = exponents[column] == INT_MIN ? 0 : kScaledExponent - exponents[column];
}

template <class V, class T>
__global__ void round_kernel(BlockProduct<V> p, const T* B, Index ld) {
  const Index entries = p.padded_rows * p.pitch;
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index k = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; k < entries;
       k += step) {
    const Index position = k / p.pitch;
    const Index column = k % p.pitch;
    double value = 0;
    if (position < p.cols && column < p.N) {
      const Index row = p.column_order == nullptr ? position : p.column_order[position];
      value = ldexp(static_cast<double>(B[row * ld + column]), p.column_exponents[column]);
    }
    p.B[k] = V::round(value);
  }
}

template <class V, int kTiles>
void launch(CudaContext& context, const BlockProduct<V>& p) {
  const dim3 grid(blocks_for(p.units, kWarps), blocks_for(p.N, kTiles * kTileColumns));
  block_product_kernel<V, kTiles><<<grid, kWarps * kWarp, 0, context.stream()>>>(p);
  check_launch();
}

}  // namespace

Index slab_columns(Index N) noexcept {
  Index columns = kTileColumns;
  while (columns < N && columns < kWidestSlab) columns *= 2;
  return columns;
}

template <class V, Scalar T>
void find_column_exponents(CudaContext& context, const BlockProduct<V>& p,
                           ConstBlockView<T, DeviceSpace> B, RangeScaling scaling) {
  if (p.N == 0) return;
  const bool none = scaling == RangeScaling::none;
  const unsigned blocks = blocks_for(p.N, kThreads);
  fill_kernel<<<blocks, kThreads, 0, context.stream()>>>(p.column_exponents, p.N,
                                                         none ? 0 : INT_MIN);
  check_launch();
  if (none) return;
  constexpr Index kRows = kThreads / kWarp;
  if (B.rows() > 0) {
    const dim3 grid(static_cast<unsigned>(std::min(ceil_div(B.rows(), 16 * kRows),
                                                   Index{4} * context.device().multiprocessors)),
                    blocks_for(p.N, kWarp));
    exponents_kernel<<<grid, kThreads, 0, context.stream()>>>(B.data(), B.rows(), p.N, B.ld(),
                                                              p.column_exponents);
    check_launch();
  }
  scaling_kernel<<<blocks, kThreads, 0, context.stream()>>>(p.column_exponents, p.N);
  check_launch();
}

template <class V, Scalar T>
void round_block(CudaContext& context, const BlockProduct<V>& p, ConstBlockView<T, DeviceSpace> B) {
  const Index entries = p.padded_rows * p.pitch;
  if (entries == 0) return;
  const auto blocks =
      static_cast<unsigned>(std::min(ceil_div(entries, Index{kThreads}), kMostBlocks));
  round_kernel<<<blocks, kThreads, 0, context.stream()>>>(p, B.data(), B.ld());
  check_launch();
}

template <class V>
void multiply_blocks(CudaContext& context, const BlockProduct<V>& p) {
  if (p.units == 0 || p.N == 0) return;
  switch (slab_columns(p.N) / kTileColumns) {
    case 1:
      launch<V, 1>(context, p);
      break;
    case 2:
      launch<V, 2>(context, p);
      break;
    case 4:
      launch<V, 4>(context, p);
      break;
    default:
      launch<V, 8>(context, p);
  }
  if (p.split_rows == 0) return;
  add_pieces_kernel<<<static_cast<unsigned>(p.split_rows), kThreads, 0, context.stream()>>>(p);
  check_launch();
}

#define HEDDLE_INSTANTIATE_FOR(V, T)                                                 \
  template void find_column_exponents(CudaContext&, const BlockProduct<V>&,          \
                                      ConstBlockView<T, DeviceSpace>, RangeScaling); \
  template void round_block(CudaContext&, const BlockProduct<V>&, ConstBlockView<T, DeviceSpace>);
#define HEDDLE_INSTANTIATE(V)                                          \
  template void multiply_blocks(CudaContext&, const BlockProduct<V>&); \
  HEDDLE_INSTANTIATE_FOR(V, float)                                     \
  HEDDLE_INSTANTIATE_FOR(V, double)
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle::detail
