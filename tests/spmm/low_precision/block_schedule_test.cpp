#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/low_precision/block_schedule.hpp>
#include <heddle/spmm/low_precision/fragment_order.hpp>
#include <vector>

namespace heddle::detail {
namespace {

TEST(BlockSchedule, CoversEveryBlockOnceAndCutsLongRows) {
  const std::vector<std::int64_t> offsets = {0, 3, 3, 60, 70, 95};
  const BlockSchedule schedule = block_schedule(offsets.data(), 5, 10);
  std::vector<int> seen(95, 0);
  std::vector<int> pieces(5, 0);
  for (const BlockUnit& unit : schedule.units) {
    EXPECT_LE(unit.end - unit.first, 10);
    for (auto block = unit.first; block < unit.end; ++block) {
      ++seen[static_cast<std::size_t>(block)];
      EXPECT_GE(block, offsets[static_cast<std::size_t>(unit.block_row)]);
      EXPECT_LT(block, offsets[static_cast<std::size_t>(unit.block_row) + 1]);
    }
    ++pieces[static_cast<std::size_t>(unit.block_row)];
  }
  EXPECT_EQ(seen, std::vector<int>(95, 1));
  EXPECT_EQ(pieces, (std::vector<int>{1, 1, 6, 1, 3}));
  ASSERT_EQ(schedule.split_rows.size(), 2u);
  EXPECT_EQ(schedule.slots, 9);
  for (const SplitRow& split : schedule.split_rows) {
    std::int32_t slot = split.first_slot;
    for (const BlockUnit& unit : schedule.units) {
      if (unit.block_row == split.block_row) {
        EXPECT_EQ(unit.slot, slot);
        EXPECT_EQ(&split - schedule.split_rows.data(), unit.split);
        ++slot;
      }
    }
    EXPECT_EQ(slot, split.end_slot);
  }
}

TEST(BlockSchedule, LongUnitsComeFirst) {
  const std::vector<std::int64_t> offsets = {0, 1, 30, 32, 62};
  const BlockSchedule schedule = block_schedule(offsets.data(), 4, 40);
  std::vector<std::int32_t> rows;
  for (const BlockUnit& unit : schedule.units) rows.push_back(unit.block_row);
  EXPECT_EQ(rows, (std::vector<std::int32_t>{1, 3, 2, 0}));
}

TEST(BlockSchedule, UnitsAreSharedWhileWarpsHaveRoom) {
  EXPECT_EQ(warps_per_unit(547, 10'600, 4224), 4);  // eight would need a second round for a few
  EXPECT_EQ(warps_per_unit(1000, 100'000, 4000), 4);
  EXPECT_EQ(warps_per_unit(100, 100'000, 4000), kMostWarpsPerUnit);
  EXPECT_EQ(warps_per_unit(5000, 100'000, 4000), 1);
  EXPECT_EQ(warps_per_unit(100, 500, 4000), 2);  // two blocks per warp at least
}

/// Every lane finds its fragments of the layout that the PTX ISA gives for a block of A.
TEST(FragmentOrder, IsThatOfTheTensorCores) {
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int k = 0; k < 8; ++k) {  // a0 … a7 of m16n8k16
      const int row = k % 4 < 2 ? g : g + 8;
      const int column = 2 * t + k % 2 + (k < 4 ? 0 : 8);
      EXPECT_EQ(fragment_place<Half>(row, column), 8 * lane + k);
    }
    const int rows[] = {g, g + 8, g, g + 8};  // a0 … a3 of m16n8k8
    const int columns[] = {t, t, t + 4, t + 4};
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(fragment_place<Tf32>(rows[k], columns[k]), 4 * lane + k);
    }
  }
}

/// Every block belongs to one warp, and every piece of a block row to a slot of that row.
void expect_shares(const std::vector<std::int64_t>& offsets, Index thread_blocks, Index warps) {
  const auto rows = static_cast<Index>(offsets.size()) - 1;
  const ShareSchedule schedule = share_schedule(offsets.data(), rows, thread_blocks, warps);
  ASSERT_EQ(static_cast<Index>(schedule.shares.size()), thread_blocks);
  ASSERT_EQ(static_cast<Index>(schedule.warps.size()), thread_blocks * warps);
  Index row = 0;
  Index block = 0;
  for (Index k = 0; k < thread_blocks; ++k) {
    const RowShare& share = schedule.shares[static_cast<std::size_t>(k)];
    EXPECT_EQ(share.first_row, row);
    row += share.rows;
    std::int32_t slot = 0;
    std::vector<RowSlots> seen(offsets.size() - 1, {0, 0});
    for (Index w = k * warps; w < (k + 1) * warps; ++w) {
      const WarpShare& warp = schedule.warps[static_cast<std::size_t>(w)];
      EXPECT_EQ(warp.first, block);
      EXPECT_LE(warp.count(), schedule.most_blocks);
      if (warp.count() > 0) {
        EXPECT_EQ(warp.first_slot(), slot);
      }
      EXPECT_EQ(warp.starts() & 1, 0u);
      for (Index b = 0; b < warp.count(); ++b, ++block) {
        const auto of_block = static_cast<std::size_t>(
            std::upper_bound(offsets.begin(), offsets.end(), block) - offsets.begin() - 1);
        const bool starts = offsets[of_block] == block;
        EXPECT_EQ((warp.starts() >> b & 1) != 0, b > 0 && b < WarpShare::kMost && starts);
        if (b > 0 && !starts) continue;
        RowSlots& slots = seen[of_block];
        if (slots.first == slots.end) slots = {slot, slot};
        slots.end = ++slot;
      }
    }
    EXPECT_LE(slot, schedule.most_slots);
    for (Index r = share.first_row; r < row; ++r) {
      const RowSlots& slots = schedule.slots[static_cast<std::size_t>(r)];
      EXPECT_EQ(slots.first, seen[static_cast<std::size_t>(r)].first);
      EXPECT_EQ(slots.end, seen[static_cast<std::size_t>(r)].end);
    }
  }
  EXPECT_EQ(row, rows);
  EXPECT_EQ(block, offsets.back());
}

TEST(ShareSchedule, CoversEveryBlockOnceAndNumbersTheSlotsOfEachRow) {
  expect_shares({0, 3, 3, 60, 70, 95}, 3, 4);
  expect_shares({0, 0, 0, 1}, 2, 16);
  expect_shares({0}, 4, 2);
  std::vector<std::int64_t> offsets = {0};
  for (Index row = 0; row < 400; ++row) offsets.push_back(offsets.back() + row % 7 + row % 3);
  expect_shares(offsets, 13, 16);
}

TEST(ShareSchedule, SharesOfEvenRowsAreEven) {
  std::vector<std::int64_t> offsets = {0};
  for (Index row = 0; row < 680; ++row) offsets.push_back(offsets.back() + 7);
  const ShareSchedule schedule = share_schedule(offsets.data(), 680, 132, 16);
  EXPECT_EQ(schedule.most_blocks, 3);  // 36 blocks per thread block, 2.25 per warp
  EXPECT_LE(schedule.most_slots, 16 + 6);
}

TEST(BlockSchedule, OfNoRows) {
  const std::vector<std::int64_t> offsets = {0};
  EXPECT_TRUE(block_schedule(offsets.data(), 0, 10).units.empty());
}

}  // namespace
}  // namespace heddle::detail
