#include <algorithm>
#include <bit>
#include <heddle/spmm/low_precision/block_schedule.hpp>

namespace heddle::detail {
namespace {

/// Cuts a block row of `count` blocks.
void add_pieces(BlockSchedule& schedule, std::int32_t row, Index first, Index count, Index pieces) {
  SplitRow split{row, schedule.slots, schedule.slots};
  for (Index k = 0; k < pieces; ++k) {
    schedule.units.push_back({first + count * k / pieces, first + count * (k + 1) / pieces, row,
                              split.end_slot++,
                              static_cast<std::int32_t>(schedule.split_rows.size())});
  }
  schedule.slots = split.end_slot;
  schedule.split_rows.push_back(split);
}

/// The end of the run of block rows that begins at `first`: where the blocks before it, each row
/// counted as one more, come nearest to `target`.
Index end_of_share(const std::int64_t* row_offsets, Index block_rows, Index first, Index target) {
  Index end = first;
  while (end < block_rows) {
    const Index before = row_offsets[end] + end;
    const Index after = row_offsets[end + 1] + end + 1;
    if (after - target > target - before) break;
    ++end;
  }
  return end;
}

/// Deals the blocks of a thread block's rows out to its warps, and numbers their slots.
void add_warps(ShareSchedule& schedule, const std::int64_t* row_offsets, const RowShare& share,
               Index warps) {
  const Index first = row_offsets[share.first_row];
  const Index count = row_offsets[share.first_row + share.rows] - first;
  std::int32_t slot = 0;
  Index row = share.first_row;
  for (Index w = 0; w < warps; ++w) {
    const Index begin = first + count * w / warps;
    const Index end = first + count * (w + 1) / warps;
    unsigned starts = 0;
    const std::int32_t first_slot = slot;
    for (Index block = begin; block < end; block = std::min<Index>(end, row_offsets[row + 1])) {
      while (row_offsets[row + 1] <= block) ++row;
      RowSlots& slots = schedule.slots[static_cast<std::size_t>(row)];
      if (slots.first == slots.end) slots.first = slot;
      slots.end = ++slot;
      const Index place = block - begin;
      if (place > 0 && place < WarpShare::kMost) starts |= 1u << place;
    }
    schedule.warps.push_back(WarpShare::of(begin, end - begin, starts, first_slot));
    schedule.most_blocks = std::max(schedule.most_blocks, end - begin);
  }
  schedule.most_slots = std::max(schedule.most_slots, slot);
}

}  // namespace

Index slab_columns(Index N) noexcept {
  Index columns = 8;
  while (columns < N && columns < kWidestSlab) columns *= 2;
  return columns;
}

ShareSchedule share_schedule(const std::int64_t* row_offsets, Index block_rows, Index thread_blocks,
                             Index warps) {
  ShareSchedule schedule;
  schedule.slots.resize(static_cast<std::size_t>(block_rows), {0, 0});
  const Index total = row_offsets[block_rows] + block_rows;
  Index row = 0;
  for (Index k = 0; k < thread_blocks; ++k) {
    const Index target = total * (k + 1) / thread_blocks;
    const Index end = end_of_share(row_offsets, block_rows, row, target);
    const RowShare share{static_cast<std::int32_t>(row), static_cast<std::int32_t>(end - row)};
    schedule.shares.push_back(share);
    add_warps(schedule, row_offsets, share, warps);
    row = end;
  }
  return schedule;
}

BlockSchedule block_schedule(const std::int64_t* row_offsets, Index block_rows, Index longest) {
  BlockSchedule schedule;
  for (Index p = 0; p < block_rows; ++p) {
    const auto row = static_cast<std::int32_t>(p);
    const Index first = row_offsets[p];
    const Index count = row_offsets[p + 1] - first;
    if (count <= longest) {
      schedule.units.push_back({first, first + count, row, -1, -1});
    } else {
      add_pieces(schedule, row, first, count, (count + longest - 1) / longest);
    }
  }
  // Neighbours of about the same length stay neighbours: they meet the same rows of B.
  const auto size = [](const BlockUnit& unit) {
    return std::bit_width(static_cast<std::uint64_t>(unit.end - unit.first));
  };
  std::stable_sort(schedule.units.begin(), schedule.units.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return schedule;
}

int warps_per_unit(Index units, Index blocks, Index warps) noexcept {
  constexpr Index kLeastBlocks = 2;  // per warp
  int team = 1;
  while (team < kMostWarpsPerUnit && units * 2 * team <= warps &&
         units * 2 * team * kLeastBlocks <= blocks) {
    team *= 2;
  }
  return team;
}

}  // namespace heddle::detail
