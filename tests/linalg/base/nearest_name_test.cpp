#include <gtest/gtest.h>

#include <array>
#include <heddle/linalg/base/nearest_name.hpp>
#include <string_view>

namespace heddle {
namespace {

TEST(EditDistance, CountsEachKindOfEdit) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("nev", "nev"), 0u);
  EXPECT_EQ(edit_distance("", "seed"), 4u);
  EXPECT_EQ(edit_distance("seed", ""), 4u);
  EXPECT_EQ(edit_distance("toleranc", "tolerance"), 1u);
  EXPECT_EQ(edit_distance("tolerrance", "tolerance"), 1u);
  EXPECT_EQ(edit_distance("tolerince", "tolerance"), 1u);
  EXPECT_EQ(edit_distance("tolernace", "tolerance"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
}

TEST(EditDistance, IsSymmetric) {
  constexpr std::array<std::string_view, 5> kNames{"", "nev", "nve", "block_size", "lobpcg"};
  for (const std::string_view a : kNames) {
    for (const std::string_view b : kNames) EXPECT_EQ(edit_distance(a, b), edit_distance(b, a));
  }
}

constexpr std::array<std::string_view, 4> kKeys{"nev", "which", "block_size", "tolerance"};

TEST(NearestName, FindsMisspeltNames) {
  EXPECT_EQ(nearest_name("blocksize", kKeys), "block_size");
  EXPECT_EQ(nearest_name("tol erance", kKeys), "tolerance");
  EXPECT_EQ(nearest_name("nve", kKeys), "nev");
  EXPECT_EQ(nearest_name("which", kKeys), "which");
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("preconditioner", kKeys), "");
  EXPECT_EQ(nearest_name("xyz", kKeys), "");
  EXPECT_EQ(nearest_name("", kKeys), "");
  EXPECT_EQ(nearest_name("nev", {}), "");
}

TEST(NearestName, TakesTheFirstOfEquals) {
  constexpr std::array<std::string_view, 2> kPair{"laplace1d", "laplace2d"};
  EXPECT_EQ(nearest_name("laplace", kPair), "laplace1d");
}

}  // namespace
}  // namespace heddle
