#pragma once

#include <heddle/spgemm/cuda/block_rows.hpp>
#include <heddle/spgemm/cuda/row_team.cuh>

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
  const Index begin = i < M.rows ? M.row_offsets[i] : 0;
  const Index end = i < M.rows ? M.row_offsets[i + 1] : 0;
  constexpr unsigned kTeam = kAllLanes >> (kWarp - W);
  const int first = lane_index() / W * W;
  int written = 0;
  for (Index e = begin + RowTeam<W>::lane(); RowTeam<W>::any(e < end); e += W) {
    const bool is_first = e < end && begins_block(M, begin, e);
    const unsigned votes = (__ballot_sync(kAllLanes, is_first) >> first) & kTeam;
    if (is_first) {
      const std::int32_t key = block_of(M.columns[e]);
      unsigned mask = 0;
      for (Index m = e; m < end && block_of(M.columns[m]) == key; ++m) mask |= bit_of(M.columns[m]);
      blocks[written + __popc(votes & ((1U << RowTeam<W>::lane()) - 1))] = {key, mask};
    }
    written += __popc(votes);
  }
  return written;
}

}  // namespace heddle::detail
