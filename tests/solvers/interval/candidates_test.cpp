#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/interval/candidates.hpp>

#include "solvers/krylov/ritz_of.hpp"

namespace heddle::detail {
namespace {

constexpr double kLevel = 0.8;
constexpr Index kBlock = 2;

struct Ritz {
  std::vector<double> theta;
  std::vector<double> residuals;
};

Candidates taken(Candidates candidates, const Ritz& pairs, Index steps = 4) {
  LanczosRitz ritz(std::ssize(pairs.theta), kBlock);
  test::set_ritz(ritz, pairs.theta, pairs.residuals, kBlock);
  candidates.take(ritz, kLevel, steps);
  return candidates;
}

Candidates search() { return {}; }

Candidates check() {
  Candidates candidates;
  candidates.begin_check();
  return candidates;
}

TEST(Candidates, AreTheRitzPairsNearTheLevelAndAbove) {
  const Ritz pairs{{0.95, 0.81, 0.795, 0.77, 0.5, 0}, {0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(taken(search(), pairs).count(), 3);
  EXPECT_EQ(taken(check(), pairs).count(), 4);  // which looks for less exact vectors
  EXPECT_EQ(taken(search(), {{0.5, 0.2}, {0, 0}}).count(), 0);
  EXPECT_EQ(taken(search(), {{0.9, 0.85}, {0, 0}}).count(), 2);
}

TEST(Candidates, HaveConvergedWithSmallResiduals) {
  EXPECT_TRUE(taken(search(), {{0.9, 0.85, 0.3}, {1e-4, 7e-4, 0.1}}).converged());
  EXPECT_FALSE(taken(search(), {{0.9, 0.85, 0.3}, {1e-4, 9e-4, 0.1}}).converged());
  EXPECT_TRUE(taken(search(), {{0.3, 0.1}, {0.5, 0.5}}).converged());
}

TEST(Candidates, OthersRestIfTheirResidualsDoNotReachTheLevel) {
  EXPECT_TRUE(taken(search(), {{0.9, 0.6, 0.1}, {0.1, 0.19, 0.6}}).others_rest());
  EXPECT_FALSE(taken(search(), {{0.9, 0.6, 0.1}, {0, 0.21, 0}}).others_rest());
  EXPECT_FALSE(taken(search(), {{0.9, 0.6, 0.1}, {0, 0, 0.71}}).others_rest());
}

/// A vector with a share s of an eigenvector x of F = diag(0.8, θ) has the Ritz value
/// θ + s²(0.8 − θ) and the residual s √(1 − s²)(0.8 − θ): the share can be seen from both.
TEST(Candidates, ACheckLocksVectorsWithLittleOfAMissedOne) {
  for (const double theta : {0.0, 0.4, 0.7}) {
    for (const double share : {0.01, 0.1, 0.7}) {
      const double gap = kLevel - theta;
      const double residual = share * std::sqrt(1 - share * share) * gap;
      const Ritz pairs{{0.9, theta + share * share * gap, -0.1}, {1e-4, residual, 1}};
      EXPECT_EQ(taken(search(), pairs).lockable(), share < 0.02 ? 2 : 1) << theta << " " << share;
    }
  }
}

TEST(Candidates, RitzValuesBeyondThoseOfTheSpectrumShow) {
  EXPECT_FALSE(taken(search(), {{1.05, 0.2, -0.1}, {0, 0, 0}}).beyond_spectrum());
  EXPECT_TRUE(taken(search(), {{2, 0.2, -0.1}, {0, 0, 0}}).beyond_spectrum());
  EXPECT_TRUE(taken(search(), {{1, 0.2, -0.7}, {0, 0, 0}}).beyond_spectrum());
}

/// The growth of the polynomial against its definition: T_{k−1}(1 + 2γ) ≥ 20 √n.
TEST(Candidates, AMissedPairWouldHaveGrownAfterEnoughSteps) {
  const Ritz pairs{{0.3, 0.2, -0.1}, {0, 0, 0}};
  const double x = 1 + 2 * (kLevel - 0.3) / (0.3 + 0.1);
  for (const Index n : {100, 1'000'000}) {
    Index least = 2;
    double before = 1, term = x;  // T_0, T_1
    for (; term < 20 * std::sqrt(static_cast<double>(n)); ++least) {
      before = std::exchange(term, 2 * x * term - before);
    }
    EXPECT_FALSE(taken(check(), pairs, least - 1).none_missed(n)) << n;
    EXPECT_TRUE(taken(check(), pairs, least).none_missed(n)) << n;
  }
  EXPECT_FALSE(taken(check(), {{0.9, 0.3, -0.1}, {0, 0, 0}}, 100).none_missed(100));
  EXPECT_FALSE(taken(check(), {{0.3, 0.2, -0.1}, {0.6, 0, 0}}, 100).none_missed(100));
  // A restart keeps what has grown.
  Candidates restarted = taken(check(), pairs, 3);
  EXPECT_FALSE(restarted.none_missed(10000));
  restarted.restart();
  EXPECT_TRUE(taken(restarted, pairs, 4).none_missed(10000));
}

}  // namespace
}  // namespace heddle::detail
