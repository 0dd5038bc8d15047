#include <gtest/gtest.h>

#include <algorithm>
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
        ++slot;
      }
    }
    EXPECT_EQ(slot, split.end_slot);
  }
}

TEST(BlockSchedule, OfNoRows) {
  const std::vector<std::int64_t> offsets = {0};
  EXPECT_TRUE(block_schedule(offsets.data(), 0, 10).units.empty());
}

}  // namespace
}  // namespace heddle
