#include <gtest/gtest.h>

#include <heddle/solvers/lanczos/nearest/target.hpp>

namespace heddle {
namespace {

using detail::interval_to_count;
using detail::nearest_places;
using detail::Target;

TEST(NearestTarget, PlacesAreThoseOfTheWantedSideNearestFirst) {
  const std::vector<double> values = {-3, -1, 0.5, 2, 7};
  using Places = std::vector<std::size_t>;
  EXPECT_EQ(nearest_places({0, Side::both}, values), (Places{2, 1, 3, 0, 4}));
  EXPECT_EQ(nearest_places({0, Side::above}, values), (Places{2, 3, 4}));
  EXPECT_EQ(nearest_places({0, Side::below}, values), (Places{1, 0}));
  EXPECT_EQ(nearest_places({0.6, Side::above, 0.2}, values), (Places{2, 3, 4}));
}

TEST(NearestTarget, TheCountEndsInTheGapBeyondTheLastValue) {
  const auto both =
      interval_to_count({1, Side::both}, std::vector{1.5, 0.0}, std::vector{-1.0, 5.0}, 0.25);
  ASSERT_TRUE(both);
  EXPECT_DOUBLE_EQ(both->lower, 1 - 1.25);
  EXPECT_DOUBLE_EQ(both->upper, 1 + 1.25);
  const auto above =
      interval_to_count({1, Side::above}, std::vector{1.5, 2.0}, std::vector{0.0, 4.0}, 0.25);
  ASSERT_TRUE(above);
  EXPECT_DOUBLE_EQ(above->lower, 0.75);
  EXPECT_DOUBLE_EQ(above->upper, 2.5);
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
  EXPECT_FALSE(interval_to_count({1, Side::both}, std::vector{1.0, 1.0}, std::vector{1.0}, 0.5));
}

}  // namespace
}  // namespace heddle
