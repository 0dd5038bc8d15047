#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/spgemm/hybrid/sampling.hpp>
#include <heddle/spgemm/share.hpp>
#include <vector>

#include "support/matrices.hpp"

namespace heddle {
namespace {

TEST(BalancedShare, IsTheBestOfAllShares) {
  for (const SideCost host : {SideCost{10, 0.5}, SideCost{3, 0}, SideCost{100, 2}}) {
    for (const SideCost gpu : {SideCost{4, 1}, SideCost{4, 20}, SideCost{1, 0}}) {
      const auto ms = [&](double share) {
        const double on_host = share > 0 ? share * host.slope + host.latency : 0;
        const double on_gpu = share < 1 ? (1 - share) * gpu.slope + gpu.latency : 0;
        return std::max(on_host, on_gpu);
      };
      const double chosen = ms(balanced_share({host, gpu, host.ms(), gpu.ms()}));
      for (int i = 0; i <= 100; ++i) EXPECT_LE(chosen, ms(i / 100.0) * (1 + 1e-12)) << i;
    }
  }
}

TEST(BalancedShare, IsOneSideAloneWhereLittleIsGained) {
  EXPECT_GT(balanced_share({{100, 0}, {5, 0}, 100, 5}), 0);
  EXPECT_EQ(balanced_share({{100, 0}, {5, 0}, 100, 5}, 0.1), 0);
  EXPECT_EQ(balanced_share({{5, 0}, {100, 0}, 5, 100}, 0.1), 1);
  EXPECT_DOUBLE_EQ(balanced_share({{5, 0}, {5, 0}, 5, 5}, 0.1), 0.5);
  // A side that is twice as fast alone as beside the other one.
  EXPECT_EQ(balanced_share({{5, 0}, {5, 0}, 2.4, 5}), 1);
  EXPECT_EQ(balanced_share({{5, 0}, {5, 0}, 5, 2.4}), 0);
  EXPECT_EQ(balanced_share({{0, 0}, {0, 1}, 0, 1}), 1);
  // A GPU that seems faster beside the host than alone.
  EXPECT_EQ(balanced_share({{100, 0}, {4, 0}, 100, 5}, 0.1), 0);
  EXPECT_EQ(balanced_share({{0, 1}, {0, 0}, 1, 0}), 0);
}

TEST(LineThrough, HasNoNegativePart) {
  const SideCost cost = detail::line_through({0.4, 9}, {0.1, 3});
  EXPECT_DOUBLE_EQ(cost.slope, 20);
  EXPECT_DOUBLE_EQ(cost.latency, 1);
  const SideCost noisy = detail::line_through({0.4, 8}, {0.1, 1});
  EXPECT_DOUBLE_EQ(noisy.slope, 20);
  EXPECT_DOUBLE_EQ(noisy.latency, 0);
  const SideCost falling = detail::line_through({0.4, 2}, {0.1, 3});
  EXPECT_DOUBLE_EQ(falling.slope, 0);
  EXPECT_DOUBLE_EQ(falling.latency, 2);
  EXPECT_DOUBLE_EQ(detail::line_through({0.4, 2}, {0.4, 3}).ms(), 5);
}

TEST(WorkBeforeRows, CountsMultiplications) {
  const auto A = test::band_matrix<double>(10, 10, 1);
  const std::vector<Index> work = detail::work_before_rows(A.view(), A.view());
  EXPECT_EQ(work.size(), 11U);
  EXPECT_EQ(work[1], 2 + 3);
  EXPECT_EQ(work[10], 8 * 9 + 2 * 5 - 2);
}

}  // namespace
}  // namespace heddle
