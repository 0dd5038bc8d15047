#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/kernels/cuda/dependent_launch.cuh>
#include <heddle/spmm/low_precision/block_mma.cuh>
#include <heddle/spmm/low_precision/block_product.hpp>

namespace heddle::detail {
namespace {

constexpr int kWarps = 8;  // per thread block
static_assert(kWarps == kMostWarpsPerUnit);
constexpr unsigned kAllLanes = 0xffffffffu;

/// Thread blocks that a multiprocessor has room for, by their registers.
constexpr int blocks_at_a_time(Index tiles) { return tiles == 1 ? 4 : tiles == 2 ? 3 : 2; }

template <int kTiles>
using Sums = float[kTiles][4];

/// The rows of C that a lane holds sums of, and the exponents by which they were scaled.
struct RowsOfC {
  std::int32_t row[2] = {-1, -1};
  int exponent[2] = {0, 0};
};

template <class V>
__device__ RowsOfC rows_of_C(const BlockProduct<V>& p, Index block_row, int lane) {
  RowsOfC result;
  for (int h = 0; h < 2; ++h) {
    const Index position = block_row * kBlockRows + lane / 4 + 8 * h;
    if (block_row < 0 || position >= p.rows) continue;
    result.row[h] = p.row_order == nullptr ? static_cast<std::int32_t>(position)
                                           : __ldg(p.row_order + position);
    result.exponent[h] = __ldg(p.row_exponents + result.row[h]);
  }
  return result;
}

/// Where a lane finds its part of a slab of B. What does not depend on the block is computed once.
template <class V, int kTiles>
class SlabOfB {
 public:
  using Layout = SlabLayout<V, kTiles>;
  using Registers = std::uint32_t[2][Layout::kGroups][Layout::kGroup];

  __device__ SlabOfB(const BlockProduct<V>& p, Index column, int lane)
      : B_(p.B), step_(Layout::kInner * p.B.pitch) {
    const Index at = column + Layout::column_of_B(lane);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      row_[h] = Layout::row_of_B(lane, h);
      first_[h] = B_.values + row_[h] * B_.pitch + at;
      end_[h] = static_cast<int>((B_.rows - row_[h] + Layout::kInner - 1) / Layout::kInner);
    }
#pragma unroll
    for (int group = 0; group < Layout::kGroups; ++group) {
      inside_[group] = at + group * Layout::kGroupColumns < p.N;
    }
  }

  /// The rows that a block in this block column meets; zeros beyond B.
  __device__ void load_rows(Registers& b, int block_column) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const bool row_inside = block_column < end_[h];
      const V* from = first_[h] + block_column * step_;
      if (B_.order != nullptr && row_inside) {
        const int position = block_column * Layout::kInner + row_[h];
        from = first_[h] + (__ldg(B_.order + position) - row_[h]) * B_.pitch;
      }
#pragma unroll
      for (int group = 0; group < Layout::kGroups; ++group) {
        if (row_inside && inside_[group]) {
          load(b[h][group], from + group * Layout::kGroupColumns);
        } else {
          for (std::uint32_t& value : b[h][group]) value = 0;
        }
      }
    }
  }

 private:
  const ShortBlock<V>& B_;
  Index step_;         ///< from a block column to the next
  int row_[2];         ///< of the lane, in a block column
  const V* first_[2];  ///< the lane's entries in the first block column
  int end_[2];         ///< block columns from here on have no such row
  bool inside_[Layout::kGroups];
};

/// A block of A and the rows of B that it meets.
template <class V, int kTiles>
struct Operands {
  using Layout = SlabLayout<V, kTiles>;
  std::uint32_t a[4];
  typename SlabOfB<V, kTiles>::Registers b;

  __device__ void load_A(const BlockProduct<V>& p, Index block, int lane) {
    load_block(a, p.values + (block * kWarp + lane) * (16 / static_cast<int>(sizeof(V))));
  }

  __device__ void multiply(Sums<kTiles>& sums) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      constexpr int kGroup = Layout::kGroup;
      using Bits = decltype(V::bits);
      multiply_add(sums[tile], a, fragment_of_B(b[0][tile / kGroup][tile % kGroup], Bits{}),
                   fragment_of_B(b[1][tile / kGroup][tile % kGroup], Bits{}), V{});
    }
  }
};

/// sums += the blocks first … end − 1 times a slab of B. Loads of several blocks are under way at a
/// time. A does not change, so that its first blocks are loaded while the kernel before still runs.
template <class V, int kTiles>
__device__ void add_blocks(const BlockProduct<V>& p, Index first, Index end, Index column, int lane,
                           Sums<kTiles>& sums) {
  constexpr int kAhead = kTiles <= 2 ? 4 : 2;
  const SlabOfB<V, kTiles> slab(p, column, lane);
  const int blocks = static_cast<int>(end - first);
  if (blocks <= 0) cuda::wait_for_first_pass();
  for (int chunk = 0; chunk < blocks; chunk += kWarp) {
    const int count = min(blocks - chunk, kWarp);
    const int mine = lane < count ? __ldg(p.columns + first + chunk + lane) : 0;
    for (int k = 0; k < count; k += kAhead) {
      Operands<V, kTiles> operands[kAhead];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (k + u < count) operands[u].load_A(p, first + chunk + k + u, lane);
      }
      if (chunk == 0 && k == 0) cuda::wait_for_first_pass();
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        const int block_column = __shfl_sync(kAllLanes, mine, (k + u) % kWarp);
        if (k + u < count) slab.load_rows(operands[u].b, block_column);
      }
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (k + u < count) operands[u].multiply(sums);
      }
    }
  }
}

/// Adds the sums of the other warps of a team to those of its first one, in their order.
template <int kTiles>
__device__ void add_team(int team, int member, int lane, Sums<kTiles>& sums) {
  __shared__ float4 shared[kWarps][kTiles][kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  if (member > 0) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const float(&c)[4] = sums[tile];
      shared[warp][tile][lane] = make_float4(c[0], c[1], c[2], c[3]);
    }
  }
  __syncthreads();
  if (member > 0) return;
  for (int other = 1; other < team; ++other) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const float4 c = shared[warp + other][tile][lane];
      sums[tile][0] += c.x;
      sums[tile][1] += c.y;
      sums[tile][2] += c.z;
      sums[tile][3] += c.w;
    }
  }
}

/// Keeps the sums of a piece of a block row. The warp that comes last adds the sums of all pieces
/// in the order of the pieces and gets true.
template <class V, int kTiles>
__device__ bool add_pieces(const BlockProduct<V>& p, const BlockUnit& work, int lane,
                           Sums<kTiles>& sums) {
  const Index slot_size = static_cast<Index>(gridDim.y) * kTiles * kWarp;
  float4* const partial =
      reinterpret_cast<float4*>(p.partial) + static_cast<Index>(blockIdx.y) * kTiles * kWarp + lane;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const float(&c)[4] = sums[tile];
    partial[work.slot * slot_size + tile * kWarp] = make_float4(c[0], c[1], c[2], c[3]);
  }
  const SplitRow split = p.split[work.split];
  const auto last = static_cast<unsigned>(split.end_slot - split.first_slot - 1);
  __threadfence();
  __syncwarp();
  unsigned before = 0;
  if (lane == 0) {
    before = atomicInc(p.arrived + static_cast<Index>(work.split) * gridDim.y + blockIdx.y, last);
  }
  if (__shfl_sync(kAllLanes, before, 0) != last) return false;
  __threadfence();
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    for (float& sum : sums[tile]) sum = 0;
  }
  for (Index slot = split.first_slot; slot < split.end_slot; ++slot) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const float4 c = __ldcg(partial + slot * slot_size + tile * kWarp);
      sums[tile][0] += c.x;
      sums[tile][1] += c.y;
      sums[tile][2] += c.z;
      sums[tile][3] += c.w;
    }
  }
  return true;
}

/// Stores the neighbouring entries at `to`, in vectors if it is aligned to them.
template <int kCount>
__device__ void store_entries(float* to, const float (&entries)[kCount], int inside) {
  constexpr int kVector = kCount < 4 ? 2 : 4;
  if (inside >= kCount && reinterpret_cast<std::uintptr_t>(to) % (kVector * sizeof(float)) == 0) {
#pragma unroll
    for (int k = 0; k < kCount; k += kVector) {
      if constexpr (kVector == 4) {
        *reinterpret_cast<float4*>(to + k) =
            make_float4(entries[k], entries[k + 1], entries[k + 2], entries[k + 3]);
      } else {
        *reinterpret_cast<float2*>(to + k) = make_float2(entries[k], entries[k + 1]);
      }
    }
    return;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (k < inside) to[k] = entries[k];
  }
}

/// Scales the sums back and stores them.
template <class V, int kTiles>
__device__ void store(const BlockProduct<V>& p, const RowsOfC& rows, Index column, int lane,
                      const Sums<kTiles>& sums) {
  using Layout = SlabLayout<V, kTiles>;
  constexpr int kEntries = 2 * Layout::kGroup;
#pragma unroll
  for (int group = 0; group < Layout::kGroups; ++group) {
    const Index at = column + group * Layout::kGroupColumns + Layout::column_of_C(lane);
    if (at >= p.N) continue;
    const int inside = static_cast<int>(min(p.N - at, Index{kEntries}));
    int exponents[kEntries] = {};
    if (p.column_exponents != nullptr) {
#pragma unroll
      for (int k = 0; k < kEntries; ++k) {
        if (k < inside) exponents[k] = p.column_exponents[at + k];
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (rows.row[h] < 0) continue;
      float entries[kEntries];
#pragma unroll
      for (int j = 0; j < Layout::kGroup; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int k = Layout::offset_in_C(j, e);
          entries[k] =
              ldexpf(sums[group * Layout::kGroup + j][2 * h + e], -rows.exponent[h] - exponents[k]);
        }
      }
      store_entries(p.C + Index{rows.row[h]} * p.ldc + at, entries, inside);
    }
  }
}

/// A team of warps multiplies the blocks of a unit by a slab of columns. blockIdx.y is the slab.
template <class V, int kTiles>
__global__ __launch_bounds__(kWarps* kWarp, blocks_at_a_time(kTiles)) void block_product_kernel(
    BlockProduct<V> p) {
  cuda::allow_next_pass();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int team = 1 << p.team_exponent;
  const int member = warp & (team - 1);
  const Index unit =
      ((static_cast<Index>(blockIdx.x) * kWarps) >> p.team_exponent) + (warp >> p.team_exponent);
  const BlockUnit work = unit < p.units ? p.schedule[unit] : BlockUnit{0, 0, -1, -1, -1};
  const RowsOfC rows = rows_of_C(p, work.block_row, lane);
  const Index column = static_cast<Index>(blockIdx.y) * kTiles * kTileColumns;
  const Index count = work.end - work.first;
  Sums<kTiles> sums = {};
  add_blocks<V, kTiles>(p, work.first + (count * member >> p.team_exponent),
                        work.first + (count * (member + 1) >> p.team_exponent), column, lane, sums);
  if (team > 1) add_team<kTiles>(team, member, lane, sums);
  if (member > 0 || work.block_row < 0) return;
  if (work.slot >= 0 && !add_pieces<V, kTiles>(p, work, lane, sums)) return;
  store<V, kTiles>(p, rows, column, lane, sums);
}

template <class V, int kTiles>
void launch(CudaContext& context, const BlockProduct<V>& p) {
  const dim3 grid(static_cast<unsigned>(ceil_div(p.units << p.team_exponent, Index{kWarps})),
                  static_cast<unsigned>(ceil_div(p.N, Index{kTiles * kTileColumns})));
  cuda::launch_second_pass(block_product_kernel<V, kTiles>, grid, dim3(kWarps * kWarp),
                           context.stream(), p);
}

}  // namespace

Index slab_columns(Index N) noexcept {
  Index columns = kTileColumns;
  while (columns < N && columns < kWidestSlab) columns *= 2;
  return columns;
}

Index warps_at_a_time(const CudaContext& context, Index N) noexcept {
  return Index{kWarps} * blocks_at_a_time(slab_columns(N) / kTileColumns) *
         context.device().multiprocessors;
}

template <class V>
void multiply_blocks(CudaContext& context, const BlockProduct<V>& p) {
  if (p.units == 0 || p.N == 0) return;
  switch (slab_columns(p.N) / kTileColumns) {
    case 1:
      return launch<V, 1>(context, p);
    case 2:
      return launch<V, 2>(context, p);
    case 4:
      return launch<V, 4>(context, p);
    default:
      return launch<V, 8>(context, p);
  }
}

#define HEDDLE_INSTANTIATE(V) template void multiply_blocks(CudaContext&, const BlockProduct<V>&);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
