#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/solvers/lanczos/nearest/target.hpp>

namespace heddle {
namespace {

using detail::interval_to_count;
using detail::nearest_places;
using detail::Target;

TEST(NearestTarget, PlacesAreThoseOfTheWantedSideNearestFirst) {
  const std::vector<double> values = {-3, -1, 0.5, 2, 7};
  using Places = std::vector<std::size_t>;
  EXPECT_EQ(nearest_places({}, values), (Places{2, 1, 3, 0, 4}));
  EXPECT_EQ(nearest_places({.lower = 0}, values), (Places{2, 3, 4}));
  EXPECT_EQ(nearest_places({.upper = 0}, values), (Places{1, 0}));
  EXPECT_EQ(nearest_places({.sigma = 0.6, .lower = 0.6, .noise = 0.2}, values), (Places{2, 3, 4}));
}

TEST(NearestTarget, TheCountEndsInTheGapBeyondTheLastValue) {
  const auto both =
      interval_to_count({.sigma = 1}, std::vector{1.5, 0.0}, std::vector{-1.0, 5.0}, 0.25);
  ASSERT_TRUE(both);
  EXPECT_DOUBLE_EQ(both->lower, 1 - 1.25);
  EXPECT_DOUBLE_EQ(both->upper, 1 + 1.25);
  const auto above = interval_to_count({.sigma = 1, .lower = 1}, std::vector{1.5, 2.0},
                                       std::vector{0.0, 4.0}, 0.25);
  ASSERT_TRUE(above);
  EXPECT_DOUBLE_EQ(above->lower, 0.75);
  EXPECT_DOUBLE_EQ(above->upper, 2.5);
}

TEST(NearestTarget, TheCountEndsAtLimitsThatAreCounted) {
  const Target target{.sigma = 1, .lower = 0, .upper = 6, .counted = true};
  const auto counted =
      interval_to_count(target, std::vector{1.5, 2.0, 3.0}, std::vector{-1.0, 5.0}, 0.25);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->lower, 0);
  EXPECT_DOUBLE_EQ(counted->upper, 3.5);
  EXPECT_EQ(nearest_places(target, std::vector<double>{-0.5, 5, 7}), std::vector<std::size_t>{1});
}

/// Of five copies of a value two are wanted: those nearer to σ are counted, and no copy is.
TEST(NearestTarget, TheCountEndsBeforeCopiesOfTheLastValue) {
  const std::vector<double> found = {1.5, 3, 3};
  const auto counted =
      interval_to_count({.sigma = 1, .tolerance = 1e-8}, found, std::vector{3.0, 3.0, 3.0}, 0.5);
  ASSERT_TRUE(counted);
  EXPECT_TRUE(counted->has(1.5));
  EXPECT_FALSE(counted->has(3));
  EXPECT_TRUE(counted->has(3 - 1e-6));  // a value that is nearer by more than the tolerance
  EXPECT_FALSE(interval_to_count({.sigma = 1}, std::vector{1.0, 1.0}, std::vector{1.0}, 0.5));
}

/// The value 0 has a tolerance of 0, its distance 1 from σ one of 1e-8.
TEST(NearestTarget, TheCountEndsFartherBeforeCopiesWhereNoFactorIsCertain) {
  const Target target{.sigma = 1, .rounding = 1e-13, .tolerance = 1e-8};
  for (const double wider : {1.0, 16.0, 1e6}) {
    const auto counted =
        interval_to_count(target, std::vector{1.5, 0.0}, std::vector{0.0, 0.0}, 0.5, wider);
    ASSERT_TRUE(counted);
    EXPECT_TRUE(counted->has(1.5));
    EXPECT_NEAR(counted->lower, 0.5 * std::min(wider * 1e-13, 1e-8), 1e-15);
  }
}

}  // namespace
}  // namespace heddle
