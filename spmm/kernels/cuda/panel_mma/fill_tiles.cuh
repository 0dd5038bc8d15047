#pragma once

#include <heddle/spmm/features/column_merge.cuh>
#include <heddle/spmm/features/panel_columns.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/panel_mma/panels.hpp>

namespace heddle::detail::cuda {

/// Writes the tiles of a panel, `tile` the first of them, from the merged entries of its rows, a
/// lane per row. All lanes of the warp take part. headers[t] is that of tile t, with offsets from
/// `values`, where the values follow by tiles, the first at `offset`. `store_column(t, k, column)`
/// is called by one lane for each of the four columns of tile t; the last column is repeated to
/// fill the last tile.
template <class T, class V, class StoreColumn>
__device__ void fill_tiles(ColumnMerge<kPanelRows>& merge, Index tile, std::uint32_t offset,
                           const T* values_of_A, TileHeader* headers, V* values,
                           StoreColumn&& store_column) {
  const int lane = threadIdx.x % kPanelRows;
  std::int32_t last_column = 0;
  for (;; ++tile) {
    if (!__any_sync(kFullWarp, merge.next() != ColumnMerge<kPanelRows>::kNone)) break;
    const bool exists = merge.next() != ColumnMerge<kPanelRows>::kNone;
    const Index source = merge.position();
    std::uint32_t own = 0;  // bit k: this row has an entry in column k of the tile
    for (int k = 0; k < kTileColumns; ++k) {
      const std::int32_t column = merge.next();
      if (column != ColumnMerge<kPanelRows>::kNone) last_column = column;
      if (merge.take(column)) own |= 1u << k;
      if (exists && lane == 0) store_column(tile, k, last_column);
    }
    const int count = __popc(own);
    int before = count;
    std::uint32_t present = own << (kTileColumns * lane);
#pragma unroll
    for (int step = 1; step < kPanelRows; step *= 2) {
      const int other = __shfl_up_sync(kFullWarp, before, step, kPanelRows);
      if (lane >= step) before += other;
      present |= __shfl_xor_sync(kFullWarp, present, step, kPanelRows);
    }
    before -= count;
    if (exists && lane == 0) headers[tile] = {present, offset};
    for (int k = 0; k < count; ++k) {
      values[offset + before + k] = static_cast<V>(__ldg(values_of_A + source + k));
    }
    offset += __popc(present);
  }
}

}  // namespace heddle::detail::cuda
