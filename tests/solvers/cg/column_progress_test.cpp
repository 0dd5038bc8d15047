#include <gtest/gtest.h>

#include <heddle/solvers/cg/column_progress.hpp>
#include <vector>

namespace heddle::detail {
namespace {

TEST(ColumnProgress, StallsAfterTwoHundredIterationsWithoutATenth) {
  ColumnProgress progress;
  EXPECT_FALSE(progress.stalled(0, 100));
  for (Index k = 1; k < 200; ++k) ASSERT_FALSE(progress.stalled(k, 91)) << k;
  EXPECT_TRUE(progress.stalled(200, 91));
  EXPECT_FALSE(progress.stalled(201, 91)) << "the count starts afresh";
  EXPECT_FALSE(progress.stalled(399, 91));
  EXPECT_TRUE(progress.stalled(400, 91));
}

TEST(ColumnProgress, ATenthIsProgress) {
  ColumnProgress progress;
  double excess = 1e30;
  for (Index k = 0; k < 1000; ++k) {
    ASSERT_FALSE(progress.stalled(k, excess));
    if (k % 199 == 0) excess *= 0.89;
  }
}

TEST(ColumnProgress, LongSolvesHaveAThirdOfTheirIterations) {
  ColumnProgress progress;
  EXPECT_FALSE(progress.stalled(1000, 1));
  for (Index k = 1001; k < 1499; ++k) ASSERT_FALSE(progress.stalled(k, 1)) << k;
  EXPECT_TRUE(progress.stalled(1499, 1));
}

TEST(ColumnProgress, AClaimMustHalveTheExcess) {
  ColumnProgress progress;
  EXPECT_FALSE(progress.fruitless_claim(8));
  EXPECT_FALSE(progress.fruitless_claim(4));
  EXPECT_TRUE(progress.fruitless_claim(3));
  EXPECT_TRUE(progress.fruitless_claim(2)) << "3 is the best so far, though it was fruitless";
  EXPECT_FALSE(progress.fruitless_claim(1));
}

TEST(ColumnProgress, ACheckpointBringsBackBothCounts) {
  ColumnProgress saved, loaded;
  saved.stalled(0, 100);
  saved.fruitless_claim(8);
  std::vector<std::byte> memory;
  Archive save(memory, Archive::Mode::save);
  saved.archive(save);
  Archive load(memory, Archive::Mode::load);
  loaded.archive(load);
  EXPECT_TRUE(loaded.fruitless_claim(5));
  EXPECT_TRUE(loaded.stalled(200, 95));
}

}  // namespace
}  // namespace heddle::detail
