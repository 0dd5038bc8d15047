#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/low_precision/block_operands.cuh>

namespace heddle::detail {
namespace {

constexpr int kWarps = 8;  // per thread block
static_assert(kWarps == kMostWarpsPerUnit);
constexpr unsigned kAllLanes = 0xffffffffu;

/// Thread blocks that a multiprocessor has room for, by their registers.
constexpr int blocks_at_a_time(Index tiles) { return tiles == 1 ? 4 : tiles == 2 ? 3 : 2; }

/// sums += the blocks first … end − 1 times a slab of B. Loads of several blocks are under way at a
/// time. A does not change, so that its first blocks are loaded while the kernel before still runs.
template <class V, int kTiles, bool kGathered, class Result>
__device__ void add_blocks(const BlockProduct<V, Result>& p, Index first, Index end, int column,
                           int lane, TileSums<kTiles>& sums) {
  constexpr int kAhead = kTiles <= 2 ? 4 : 2;
  const SlabOfB<V, kTiles> slab(p.B, p.C.N, column, lane);
  const int blocks = static_cast<int>(end - first);
  if (blocks <= 0) cuda::wait_for_previous_kernel();
  const V* const values = lane_of_block(p.A, first, lane);
  RowsOfB<kAhead> rows;
  find_rows<V, kGathered, kAhead>(p.A, first, blocks, lane, rows);
  for (int k = 0; k < blocks; k += kAhead) {
    Operands<V, kTiles> operands[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (k + u < blocks) operands[u].load_A(values, k + u);
    }
    if (k == 0) cuda::wait_for_previous_kernel();
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      slab.template load_rows<kGathered>(operands[u].b, rows[u], k + u < blocks);
    }
    find_rows<V, kGathered, kAhead>(p.A, first + k + kAhead, blocks - k - kAhead, lane, rows);
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (k + u < blocks) operands[u].multiply(sums);
    }
  }
}

/// Adds the sums of the other warps of a team to those of its first one, in their order.
template <int kTiles>
__device__ void add_team(int team, int member, int lane, TileSums<kTiles>& sums) {
  __shared__ float4 shared[kWarps][kTiles][kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  if (member > 0) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      shared[warp][tile][lane] = vector_of(sums[tile]);
    }
  }
  __syncthreads();
  if (member > 0) return;
  for (int other = 1; other < team; ++other) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      add_tile(sums[tile], shared[warp + other][tile][lane]);
    }
  }
}

/// Keeps the sums of a piece of a block row. The warp that comes last adds the sums of all pieces
/// in the order of the pieces and gets true.
template <class V, int kTiles, class Result>
__device__ bool add_pieces(const BlockProduct<V, Result>& p, const BlockUnit& work, int lane,
                           TileSums<kTiles>& sums) {
  const Index slot_size = static_cast<Index>(gridDim.y) * kTiles * kWarp;
  float4* const partial =
      reinterpret_cast<float4*>(p.partial) + static_cast<Index>(blockIdx.y) * kTiles * kWarp + lane;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    partial[work.slot * slot_size + tile * kWarp] = vector_of(sums[tile]);
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
      add_tile(sums[tile], __ldcg(partial + slot * slot_size + tile * kWarp));
    }
  }
  return true;
}

/// A team of warps multiplies the blocks of a unit by a slab of columns. blockIdx.y is the slab.
template <class V, class Result, int kTiles, bool kGathered>
__global__ __launch_bounds__(kWarps* kWarp, blocks_at_a_time(kTiles)) void block_product_kernel(
    BlockProduct<V, Result> p) {
  cuda::allow_next_kernel();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int team = 1 << p.team_exponent;
  const int member = warp & (team - 1);
  const Index unit =
      ((static_cast<Index>(blockIdx.x) * kWarps) >> p.team_exponent) + (warp >> p.team_exponent);
  const BlockUnit work = unit < p.units ? p.schedule[unit] : BlockUnit{0, 0, -1, -1, -1};
  const RowsOfC rows = rows_of_C(p.C, p.A.row_order, work.block_row, lane);
  const int column = static_cast<int>(blockIdx.y) * kTiles * kTileColumns;
  const Index count = work.end - work.first;
  TileSums<kTiles> sums = {};
  add_blocks<V, kTiles, kGathered>(p, work.first + (count * member >> p.team_exponent),
                                   work.first + (count * (member + 1) >> p.team_exponent), column,
                                   lane, sums);
  if (team > 1) add_team<kTiles>(team, member, lane, sums);
  if (member > 0 || work.block_row < 0) return;
  if (work.slot >= 0 && !add_pieces<V, kTiles>(p, work, lane, sums)) return;
  store<V, kTiles>(p.C, rows, column, lane, sums);
}

template <int kTiles, class V, class Result>
void launch(CudaContext& context, const BlockProduct<V, Result>& p) {
  const dim3 grid(static_cast<unsigned>(ceil_div(p.units << p.team_exponent, Index{kWarps})),
                  static_cast<unsigned>(ceil_div(p.C.N, kTiles * kTileColumns)));
  cuda::launch_dependent(p.A.gathered ? block_product_kernel<V, Result, kTiles, true>
                                      : block_product_kernel<V, Result, kTiles, false>,
                         {grid, dim3(kWarps * kWarp)}, context.stream(), p);
}

}  // namespace

Index warps_at_a_time(const CudaContext& context, Index N) noexcept {
  return Index{kWarps} * blocks_at_a_time(slab_columns(N) / kTileColumns) *
         context.device().multiprocessors;
}

template <class V, class Result>
void multiply_blocks(CudaContext& context, const BlockProduct<V, Result>& p) {
  if (p.units == 0 || p.C.N == 0) return;
  switch (slab_columns(p.C.N) / kTileColumns) {
    case 1:
      return launch<1>(context, p);
    case 2:
      return launch<2>(context, p);
    case 4:
      return launch<4>(context, p);
    default:
      return launch<8>(context, p);
  }
}

#define HEDDLE_INSTANTIATE(V, C) \
  template void multiply_blocks(CudaContext&, const BlockProduct<V, C>&);
HEDDLE_FOR_EACH_SHORT_PRODUCT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
