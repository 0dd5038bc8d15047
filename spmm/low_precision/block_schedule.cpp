#include <algorithm>
#include <bit>
#include <heddle/spmm/low_precision/low_precision_cuda.hpp>

namespace heddle {
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

}  // namespace

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

}  // namespace heddle
