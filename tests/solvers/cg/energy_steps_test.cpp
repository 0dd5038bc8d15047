#include <gtest/gtest.h>

#include <heddle/solvers/cg/energy_steps.hpp>

namespace heddle::detail {
namespace {

TEST(EnergySteps, AreNothingBeforeTheFirst) {
  EnergySteps steps;
  EXPECT_EQ(steps.count(), 0);
  EXPECT_EQ(steps.error(1), 0);
}

/// Squared errors 4^−k with ‖r‖ = 2^−k: each step reduces by ¾ 4^−k.
TEST(EnergySteps, EstimateTheErrorOfALinearConvergence) {
  EnergySteps steps;
  for (Index k = 0; k < 100; ++k) {
    steps.begin(std::exp2(-k));
    steps.add(.75 * std::exp2(-2 * k));
    const double error = std::exp2(-(k + 1));
    EXPECT_LE(steps.error(error), error) << k;
    EXPECT_GE(steps.error(error), .86 * error) << k;  // √¾
  }
}

/// The last of n steps solves a system that the others have not reduced at all.
TEST(EnergySteps, DoNotDoubtAStepThatSolves) {
  EnergySteps steps;
  for (Index k = 0; k < 20; ++k) {
    steps.begin(1);
    steps.add(k < 19 ? 0 : 1);
  }
  EXPECT_DOUBLE_EQ(steps.error(1e-15), 1e-15);
}

/// ‖r‖ falls while the error does not, and rises.
TEST(EnergySteps, DoNotTakeGrowingResidualsForGrowingErrors) {
  EnergySteps steps;
  steps.begin(1);
  steps.add(4);
  EXPECT_DOUBLE_EQ(steps.error(100), 2);
}

}  // namespace
}  // namespace heddle::detail
