#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <heddle/linalg/base/philox.hpp>
#include <set>
#include <vector>

namespace heddle {
namespace {

std::vector<std::uint32_t> words(const PhiloxBlock& block) {
  return {block.words, block.words + 4};
}

// The known answers that the authors publish with their Random123 library.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(words(philox4x32({{0, 0, 0, 0}}, {{0, 0}})),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(words(philox4x32({{kOnes, kOnes, kOnes, kOnes}}, {{kOnes, kOnes}})),
            (std::vector<std::uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                             {{0xa4093822, 0x299f31d0}})),
            (std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsAConstantExpression) {
  static_assert(philox4x32({{0, 0, 0, 0}}, {{0, 0}}).words[0] == 0x6627e8d5);
}

TEST(Philox, EveryBitOfSeedStreamAndIndexCounts) {
  std::set<std::vector<std::uint32_t>> seen{words(random_block(0, 0, 0))};
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    EXPECT_TRUE(seen.insert(words(random_block(one, 0, 0))).second) << "seed bit " << bit;
    EXPECT_TRUE(seen.insert(words(random_block(0, one, 0))).second) << "stream bit " << bit;
    EXPECT_TRUE(seen.insert(words(random_block(0, 0, one))).second) << "index bit " << bit;
  }
}

TEST(Philox, UniformsStayInsideTheirOpenIntervals) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(unit_uniform(0, 0), 0x1p-53);
  EXPECT_EQ(unit_uniform(kOnes, kOnes), 1 - 0x1p-53);
  EXPECT_EQ(signed_uniform(0, 0), -1 + 0x1p-52);
  EXPECT_EQ(signed_uniform(kOnes, kOnes), 1 - 0x1p-52);
  for (const std::int64_t bound : {1L, 2L, 3L, 1000L, 0x7fffffffL, 0xffffffffL}) {
    EXPECT_EQ(uniform_below(0, 0, bound), 0);
    EXPECT_EQ(uniform_below(kOnes, kOnes, bound), bound - 1);
  }
}

// Mean and variance of n uniforms, within five standard errors: Var(u) = 1/12, Var(u²) = 4/45.
TEST(Philox, UniformsHaveTheMomentsOfTheUniformDistribution) {
  constexpr int kCount = 20000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t k = 0; k < kCount; ++k) {
    const PhiloxBlock block = random_block(7, 3, k);
    const double u = unit_uniform(block.words[0], block.words[1]);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kCount, 1.0 / 2, 5 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kCount));
}

}  // namespace
}  // namespace heddle
