#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/low_precision/block_operands.cuh>

namespace heddle::detail {
namespace {

constexpr int kWarps = static_cast<int>(kShareWarps);
/// Two thread blocks fit a multiprocessor at a time, so that those of the next product load A while
/// these still run.
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kBlocks = static_cast<int>(WarpShare::kMost);

using Sums = TileSums<1>;

/// Keeps the sums so far in `slot`, and begins new ones.
__device__ void keep(float4* slots, std::int32_t slot, int lane, Sums& sums) {
  slots[slot * kWarp + lane] = vector_of(sums[0]);
  for (float& sum : sums[0]) sum = 0;
}

/// Multiplies a warp's blocks, the loads of all of which are under way at a time. The sums of each
/// block row go to a slot of their own. A is loaded while the kernel before still runs.
/// `before_wait` ends what else is done until then.
template <bool kGathered, class V, class Result, class BeforeWait>
__device__ void multiply_share(const ShareProduct<V, Result>& p, const WarpShare& share, int lane,
                               float4* slots, const BeforeWait& before_wait) {
  const SlabOfB<V, 1> slab(p.B, p.C.N, 0, lane);
  const int count = share.count();
  RowsOfB<kBlocks> rows;
  Operands<V, 1> operands[kBlocks];
  find_rows<V, kGathered, kBlocks>(p.A, share.first, count, lane, rows);
  const V* const blocks = lane_of_block(p.A, share.first, lane);
#pragma unroll
  for (int u = 0; u < kBlocks; ++u) {
    if (u < count) operands[u].load_A(blocks, u);
  }
  before_wait();
  cuda::wait_for_previous_kernel();
#pragma unroll
  for (int u = 0; u < kBlocks; ++u) {
    slab.template load_rows<kGathered>(operands[u].b, rows[u], u < count);
  }
  int slot = share.first_slot();
  Sums sums = {};
#pragma unroll
  for (int u = 0; u < kBlocks; ++u) {
    if (u >= count) continue;
    if (u > 0 && (share.starts() >> u & 1) != 0) keep(slots, slot++, lane, sums);
    operands[u].multiply(sums);
  }
  if (count > 0) keep(slots, slot, lane, sums);
}

/// The slots of a block row, and where a lane stores their sum.
struct StoredRow {
  RowSlots slots = {0, 0};
  RowsOfC rows;

  StoredRow() = default;
  template <class V, class Result>
  __device__ StoredRow(const ShareProduct<V, Result>& p, std::int32_t block_row, int lane)
      : rows(rows_of_C(p.C, p.A.row_order, block_row, lane)) {
    if (block_row >= 0) slots = p.slots[block_row];
  }

  template <class V, class Result>
  __device__ void add_and_store(const ShareProduct<V, Result>& p, const float4* sums_of_slots,
                                int lane) const {
    Sums sums = {};
    constexpr int kAtATime = 4;
#pragma unroll 1
    for (std::int32_t slot = slots.first; slot < slots.end; slot += kAtATime) {
      float4 of_slot[kAtATime] = {};
#pragma unroll
      for (int k = 0; k < kAtATime; ++k) {
        if (slot + k < slots.end) of_slot[k] = sums_of_slots[(slot + k) * kWarp + lane];
      }
#pragma unroll
      for (int k = 0; k < kAtATime; ++k) add_tile(sums[0], of_slot[k]);
    }
    store<V, 1>(p.C, rows, 0, lane, sums);
  }
};

/// A thread block multiplies its block rows: first its warps their shares of the blocks, then each
/// warp adds the slots of some rows in their order.
template <class V, class Result, bool kGathered>
__global__ __launch_bounds__(kWarps* kWarp, kBlocksPerMultiprocessor) void share_product_kernel(
    ShareProduct<V, Result> p) {
  extern __shared__ float4 slots[];
  cuda::allow_next_kernel();
  const auto lane = static_cast<int>(threadIdx.x % kWarp);
  const auto warp = static_cast<int>(threadIdx.x / kWarp);
  const RowShare rows = p.shares[blockIdx.x];
  const WarpShare share = p.warps[blockIdx.x * kWarps + warp];
  // What a warp needs of its first block row at the end waits in shared memory, as registers are
  // full of A and B.
  __shared__ StoredRow first_rows[kWarps * kWarp];
  const std::int32_t first = warp < rows.rows ? rows.first_row + warp : -1;
  const StoredRow mine(p, first, lane);
  multiply_share<kGathered>(p, share, lane, slots, [&] { first_rows[threadIdx.x] = mine; });
  __syncthreads();
  if (first < 0) return;
  first_rows[threadIdx.x].add_and_store(p, slots, lane);
  for (int k = warp + kWarps; k < rows.rows; k += kWarps) {
    StoredRow(p, rows.first_row + k, lane).add_and_store(p, slots, lane);
  }
}

}  // namespace

template <class V, class Result>
void multiply_shares(CudaContext& context, const ShareProduct<V, Result>& p) {
  if (p.thread_blocks == 0 || p.C.N == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(p.most_slots) * kWarp * sizeof(float4);
  cuda::launch_dependent(
      p.A.gathered ? share_product_kernel<V, Result, true> : share_product_kernel<V, Result, false>,
      {dim3(static_cast<unsigned>(p.thread_blocks)), dim3(kWarps * kWarp), bytes}, context.stream(),
      p);
}

#define HEDDLE_INSTANTIATE(V, C) \
  template void multiply_shares(CudaContext&, const ShareProduct<V, C>&);
HEDDLE_FOR_EACH_SHORT_PRODUCT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
