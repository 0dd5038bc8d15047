#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <limits>

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

constexpr double kFloor = 1e-10;

/// The first of 200 iterations that counts as stagnated, −1 if none does.
template <class ResidualOf>
Index first_stagnation(StagnationTest& test, const ResidualOf& residual_of, Index begin = 0) {
  for (Index k = begin; k < begin + 200; ++k) {
    if (test.stagnated(k, residual_of(k), kFloor)) return k;
  }
  return -1;
}

TEST(StagnationTest, ResidualsThatStandStillUnderTheFloorHaveTwentyIterations) {
  StagnationTest test;
  EXPECT_EQ(first_stagnation(test, [](Index) { return 1e-12; }), 20);
}

TEST(StagnationTest, AboveTheFloorNothingStagnates) {
  StagnationTest test;
  EXPECT_EQ(first_stagnation(test, [](Index) { return 2 * kFloor; }), -1);
}

TEST(StagnationTest, ATenthInTwentyIterationsIsProgress) {
  StagnationTest fast, slow;
  EXPECT_EQ(first_stagnation(fast,
                             [](Index k) {
                               return 1e-11 * std::pow(0.994, k);  // 0.994²⁰ < 0.9
                             }),
            -1);
  EXPECT_EQ(first_stagnation(slow,
                             [](Index k) {
                               return 1e-11 * std::pow(0.996, k);  // 0.996²⁰ > 0.9
                             }),
            20);
}

TEST(StagnationTest, TheBestCountsWhateverComesBetween) {
  StagnationTest test;
  const auto jagged = [](Index k) {
    return k == 5 ? 1e-13 : 1e-11 / static_cast<double>(1 + k % 7);
  };
  EXPECT_EQ(first_stagnation(test, jagged), 25);
}

TEST(StagnationTest, ARestartGrantsTheSamePatienceAnew) {
  StagnationTest test;
  const auto constant = [](Index) { return 1e-12; };
  ASSERT_EQ(first_stagnation(test, constant), 20);
  test.restart(30);
  EXPECT_EQ(first_stagnation(test, constant, 31), 51);  // the first residual is the best anew
}

TEST(StagnationTest, WaitsUntilHalfOfTheIterationsHaveGainedNothing) {
  StagnationTest test;
  const auto plateau = [](Index k) { return k < 50 ? std::pow(0.7, k) : 1e-12; };
  ASSERT_EQ(first_stagnation(test, plateau), 70);
  EXPECT_TRUE(test.wait(70));
  EXPECT_EQ(first_stagnation(test, plateau, 71), 91);
  EXPECT_TRUE(test.wait(91));
  EXPECT_EQ(first_stagnation(test, plateau, 92), 112);
  EXPECT_FALSE(test.wait(112));
  EXPECT_EQ(first_stagnation(test, plateau, 113), 113);
}

TEST(StagnationTest, NaNIsNoStagnation) {
  StagnationTest test;
  EXPECT_EQ(first_stagnation(test, [](Index) { return std::numeric_limits<double>::quiet_NaN(); }),
            -1);
}

}  // namespace
}  // namespace heddle
