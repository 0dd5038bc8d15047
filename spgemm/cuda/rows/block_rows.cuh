#pragma once

#include <heddle/spgemm/cuda/rows/block_rows.hpp>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

namespace heddle::detail {

/// Whether entry e is the first one of its block in a row that begins with entry `begin`.
template <class T>
__device__ bool begins_block(const CsrView<T, DeviceSpace>& M, Index begin, Index e) {
  return e == begin || block_of(M.columns[e - 1]) != block_of(M.columns[e]);
}

/// The number of blocks of row i of M, for all lanes of a team. 0 for i ≥ M.rows.
template <int W, class T>
__device__ int blocks_of_row(const CsrView<T, DeviceSpace>& M, Index i) {
  const Index begin = i < M.rows ? M.row_offsets[i] : 0;
  const Index end = i < M.rows ? M.row_offsets[i + 1] : 0;
  int count = 0;
#pragma unroll 4
  for (Index e = begin + RowTeam<W>::lane(); e < end; e += W) count += begins_block(M, begin, e);
  __syncwarp();
  return lane_sum<W>(count);
}

/// Writes the blocks of row i of M to `blocks` and the following, in order. Returns their number,
/// for all lanes of a team. None for i ≥ M.rows.
template <int W, class T>
__device__ int write_blocks_of_row(const CsrView<T, DeviceSpace>& M, Index i, ColumnBlock* blocks) {
  using Team = RowTeam<W>;
  const Index begin = i < M.rows ? M.row_offsets[i] : 0;
  const Index end = i < M.rows ? M.row_offsets[i + 1] : 0;
  constexpr unsigned kTeam = kAllLanes >> (kWarp - W);
  const int lane = Team::lane();
  int written = 0;
  ColumnBlock last{kFree, 0};  // of the entries before, to which this step may add
  for (Index e = begin + lane; Team::any(e < end); e += W) {
    const bool is_entry = e < end;
    const std::int32_t column = is_entry ? M.columns[e] : 0;
    const std::int32_t key = is_entry ? block_of(column) : kFree - 1;
    unsigned mask = is_entry ? bit_of(column) : 0;
    for (int step = 1; step < W; step *= 2) {
      const std::int32_t other = __shfl_down_sync(kAllLanes, key, step, W);
      const unsigned others = __shfl_down_sync(kAllLanes, mask, step, W);
      if (lane + step < W && other == key) mask |= others;
    }
    const std::int32_t before = __shfl_up_sync(kAllLanes, key, 1, W);
    const bool is_first = is_entry && (lane == 0 || before != key);
    const unsigned firsts = (__ballot_sync(kAllLanes, is_first) >> (lane_index() / W * W)) & kTeam;
    const bool goes_on = __shfl_sync(kAllLanes, key, 0, W) == last.key && e - lane < end;
    if (goes_on && lane == 0) mask |= last.mask;
    if (goes_on) --written;
    if (is_first) blocks[written + __popc(firsts & ((1U << lane) - 1))] = {key, mask};
    written += __popc(firsts);
    const int last_first = kWarp - 1 - __clz(static_cast<int>(firsts | 1U));
    last.key = __shfl_sync(kAllLanes, key, last_first, W);
    last.mask = __shfl_sync(kAllLanes, mask, last_first, W);
  }
  return written;
}

}  // namespace heddle::detail
