#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/spmm/reorder/min_hash.hpp>
#include <set>
#include <support/matrices.hpp>
#include <vector>

namespace heddle::detail {
namespace {

MinHash of_range(std::uint32_t begin, std::uint32_t end) {
  MinHash hash = MinHash::of_nothing();
  for (std::uint32_t member = begin; member < end; ++member) hash.add(member);
  return hash;
}

TEST(MinHash, AgreementsEstimateTheJaccardSimilarity) {
  // Pairs of ranges of 60 members that share 60 − shift: |v ∩ w|/|v ∪ w| = (60 − s)/(60 + s).
  constexpr std::uint32_t kPairs = 400;
  for (const std::uint32_t shift : {0u, 10u, 30u, 60u}) {
    double agreements = 0;
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      const std::uint32_t begin = pair * 1000;
      agreements +=
          of_range(begin, begin + 60).agreements(of_range(begin + shift, begin + shift + 60));
    }
    const double expected = (60.0 - shift) / (60.0 + shift);
    const double trials = kPairs * MinHash::kHashes;
    // Five standard deviations of a mean of independent trials.
    const double allowed = 5 * std::sqrt(expected * (1 - expected) / trials);
    EXPECT_NEAR(agreements / trials, expected, allowed) << shift;
  }
}

TEST(MinHash, OfAUnion) {
  MinHash both = of_range(0, 40);
  both.unite(of_range(20, 90));
  EXPECT_EQ(both.least, of_range(0, 90).least);
  EXPECT_TRUE(MinHash::of_nothing().empty());
  EXPECT_FALSE(of_range(5, 6).empty());
}

TEST(MinHash, OfTheColumnsByGroupsInAnOrder) {
  HostContext context(2);
  const auto A = test::matrix_with_pattern<double>(2, 8, [](Index i) {
    return i == 0 ? std::vector<Index>{0, 5, 7} : std::vector<Index>{};
  });
  const std::vector<std::int32_t> places = {7, 6, 5, 4, 3, 2, 1, 0};
  const auto hashes = min_hashes(context, {pattern_of(A.view()), 4, places});
  EXPECT_EQ(hashes[0].least, of_range(0, 2).least);  // places 7, 2, 0: groups 1, 0, 0
  EXPECT_TRUE(hashes[1].empty());
}

TEST(Candidates, AreTheNeighboursThatAreStillThere) {
  HostContext context(2);
  // Rows 0 to 5 are equal, row 6 shares nothing with them, row 7 is empty.
  std::vector<MinHash> hashes(6, of_range(0, 9));
  hashes.push_back(of_range(100, 109));
  hashes.push_back(MinHash::of_nothing());
  Candidates candidates(context, hashes);
  const auto found = [&](std::int32_t row) {
    std::set<std::int32_t> rows;
    candidates.for_each(row, [&](std::int32_t other) { rows.insert(other); });
    return rows;
  };
  EXPECT_EQ(found(2), (std::set<std::int32_t>{0, 1, 3, 4, 5}));
  EXPECT_EQ(found(6), std::set<std::int32_t>{});
  EXPECT_EQ(found(7), std::set<std::int32_t>{});
  candidates.remove(1);
  candidates.remove(3);
  EXPECT_EQ(found(2), (std::set<std::int32_t>{0, 4, 5}));
}

}  // namespace
}  // namespace heddle::detail
