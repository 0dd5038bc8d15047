#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/spmm/low_precision/fragment_order.hpp>
#include <heddle/spmm/low_precision/low_precision_cuda.hpp>
#include <vector>

namespace heddle {
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
  constexpr auto half = detail::fragment_order<Half>();
  constexpr auto tf32 = detail::fragment_order<Tf32>();
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int k = 0; k < 8; ++k) {  // a0 … a7 of m16n8k16
      const int row = k % 4 < 2 ? g : g + 8;
      const int column = 2 * t + k % 2 + (k < 4 ? 0 : 8);
      EXPECT_EQ(half[static_cast<std::size_t>(8 * lane + k)], 16 * row + column);
    }
    const int rows[] = {g, g + 8, g, g + 8};  // a0 … a3 of m16n8k8
    const int columns[] = {t, t, t + 4, t + 4};
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(tf32[static_cast<std::size_t>(4 * lane + k)], 8 * rows[k] + columns[k]);
    }
  }
}

TEST(BlockSchedule, OfNoRows) {
  const std::vector<std::int64_t> offsets = {0};
  EXPECT_TRUE(block_schedule(offsets.data(), 0, 10).units.empty());
}

}  // namespace
}  // namespace heddle
