#include <gtest/gtest.h>

#include <heddle/solvers/lanczos/certificate/counting_places.hpp>

namespace heddle::detail {
namespace {

TEST(CountingPlaces, LieBehindAllValues) {
  const CountingPlaces places({1, 2, 3}, 1e-10, 1e-8, 10);
  for (int attempt = 0; attempt < CountingPlaces::kBeyond; ++attempt) {
    const CountingPlace place = places.beyond(attempt);
    EXPECT_GT(place.key, 3 + 1e-8);
    EXPECT_EQ(place.found, 3);
    EXPECT_TRUE(place.proves);
  }
  EXPECT_LT(places.beyond(0).key, 3.1);
}

TEST(CountingPlaces, BehindAZeroAreOfTheSizeOfTheMatrix) {
  const CountingPlaces places({0.0}, 1e-16, 1e-8, 8);
  EXPECT_GT(places.beyond(0).key, 1e-11);
  EXPECT_LT(places.beyond(0).key, 1e-8);
  const CountingPlaces copies({1e-17, 2e-17}, 1e-15, 1e-8, 8);
  EXPECT_GT(copies.beyond(0).key, 1e-11);
}

TEST(CountingPlaces, LieBeforeTheCopiesOfTheLastValue) {
  const CountingPlaces places({1, 2, 3, 3 + 1e-14, 3 + 2e-14}, 1e-13, 1e-8, 10);
  const auto place = places.before(0);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->found, 2);
  EXPECT_LT(place->key, 3 - 1e-9);
  EXPECT_GT(place->key, 3 - 1e-7);
  EXPECT_TRUE(place->proves);
  // Farther places prove only so much, and reach the value before at last.
  EXPECT_FALSE(places.before(3)->proves);
  EXPECT_LT(places.before(3)->key, places.before(1)->key);
}

TEST(CountingPlaces, AreNotNearerToValuesThanTheirErrors) {
  const CountingPlaces wide({1, 1.5, 2}, 0.4, 1e-8, 10);
  EXPECT_GE(wide.beyond(0).key, 2.8);
  const auto place = wide.before(3);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->found, 0);
  EXPECT_LE(place->key, 1 - 0.8);
}

TEST(CountingPlaces, MayLieWithinACluster) {
  const CountingPlaces places({-5, -5 + 1e-9, -5 + 4e-8}, 1e-12, 1e-8, 10);
  const auto place = places.before(0);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->found, 2);
  EXPECT_GT(place->key, -5 + 1e-9);
  EXPECT_LT(place->key, -5 + 4e-8);
}

TEST(CountingPlaces, EndTheGapOfBounds) {
  const CountingPlaces none({1, 2}, 1e-12, 1e-8, 10);
  EXPECT_FALSE(none.gap());
  const CountingPlaces near({1, 2}, 1e-12, 1e-8, 10, 2.01);
  EXPECT_FALSE(near.gap());
  const CountingPlaces wide({1, 2}, 1e-12, 1e-8, 10, 2.5);
  ASSERT_TRUE(wide.gap());
  EXPECT_EQ(wide.gap()->key, 2.5);
  EXPECT_EQ(wide.gap()->found, 2);
}

}  // namespace
}  // namespace heddle::detail
