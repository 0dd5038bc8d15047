#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/iteration/convergence.hpp>
#include <limits>
#include <vector>

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr Criterion kCriteria[] = {Criterion::norm, Criterion::relative, Criterion::absolute};

/// A criterion of tolerance 2⁻¹⁰ for ‖A‖ = 100 and ‖B‖ = 4, all of whose limits are exact.
EigenConvergence exact(Criterion criterion) { return {criterion, 0x1p-10, 100, 4, kEpsilon}; }

TEST(EigenConvergence, EachCriterionHasItsOwnLimit) {
  for (const double lambda : {8.0, -8.0}) {
    const auto expect_limit = [&](Criterion criterion, double limit) {
      const EigenConvergence convergence = exact(criterion);
      EXPECT_TRUE(convergence.passes(lambda, limit)) << limit;
      EXPECT_FALSE(convergence.passes(lambda, std::nextafter(limit, kInfinity))) << limit;
      EXPECT_TRUE(convergence.passes(lambda, 4 * limit, 4)) << limit;
      EXPECT_FALSE(convergence.passes(lambda, limit, 0.5)) << limit;
    };
    expect_limit(Criterion::norm, 0x1p-10 * 132);     // tolerance (‖A‖ + |λ| ‖B‖)
    expect_limit(Criterion::relative, 0x1p-10 * 32);  // tolerance |λ| ‖B‖
    expect_limit(Criterion::absolute, 0x1p-10);       // tolerance
  }
}

TEST(EigenConvergence, ValuesNeedDigitsOrTheirRounding) {
  const EigenConvergence norm = exact(Criterion::norm);
  EXPECT_TRUE(norm.value_passes(8, kInfinity, 0)) << "other criteria do not look at values";
  const EigenConvergence digits = exact(Criterion::eigenvalue);
  EXPECT_TRUE(digits.passes(8, 0x1p-10 * 132)) << "the residual passes as by norm";
  EXPECT_TRUE(digits.value_passes(-8, 0x1p-7, 0));
  EXPECT_FALSE(digits.value_passes(8, 1.01 * 0x1p-7, 0));
  EXPECT_FALSE(digits.value_passes(8, 0x1p-7, 0, 0.5));
  EXPECT_TRUE(digits.value_passes(0, 1e-3, 1e-3));
  EXPECT_FALSE(digits.value_passes(8, kNaN, 1));
  EXPECT_TRUE(digits.limited(0, 1e-3, 1e-3));
  EXPECT_FALSE(digits.limited(8, 1e-3, 1e-3)) << "the tolerance is met";
  EXPECT_FALSE(digits.limited(0, 1e-2, 1e-3)) << "more digits are possible";
  EXPECT_DOUBLE_EQ(digits.rounding(-2, 100, 3), 10 * kEpsilon * 106);
  EXPECT_TRUE(digits.is_zero(200 * kEpsilon, 900 * kEpsilon)) << "10 eps |A| is 1000 eps";
  EXPECT_FALSE(digits.is_zero(300 * kEpsilon, 900 * kEpsilon)) << "times |B|";
  EXPECT_FALSE(digits.is_zero(0, 1001 * kEpsilon));
  EXPECT_DOUBLE_EQ(digits.at_rounding().rounding(-2, 100, 3), 100 * kEpsilon * 106);
}

TEST(EigenConvergence, ResidualsNearTheNoiseFloorCountAsRounding) {
  const EigenConvergence convergence = exact(Criterion::norm);
  const std::vector<double> at_noise = {0, 999 * kEpsilon, 1000 * kEpsilon};
  EXPECT_TRUE(convergence.all_at_noise(at_noise)) << "ten times 100 eps";
  EXPECT_FALSE(convergence.all_at_noise(std::vector<double>{0, 1001 * kEpsilon}));
  EXPECT_FALSE(convergence.all_at_noise(std::vector<double>{0, kNaN}));
  EXPECT_FALSE(convergence.all_at_noise({})) << "nothing is known";
}

TEST(EigenConvergence, ResultsAreScaledAlikeForEveryCriterion) {
  for (const Criterion criterion : kCriteria) {
    EXPECT_EQ(exact(criterion).scale(-8), 132);
    EXPECT_EQ(exact(criterion).scaled_residual(-8, 66), 0.5);
  }
}

TEST(EigenConvergence, AZeroEigenvalueHasNoRelativeAccuracy) {
  EXPECT_TRUE(exact(Criterion::norm).passes(0, 0x1p-10 * 100));
  EXPECT_TRUE(exact(Criterion::absolute).passes(0, 0x1p-10));
  EXPECT_TRUE(exact(Criterion::relative).passes(0, 0));
  EXPECT_FALSE(exact(Criterion::relative).passes(0, 1e-300));
}

TEST(EigenConvergence, ResidualsOfTheZeroMatrixAreZero) {
  const EigenConvergence zero(Criterion::norm, 1e-8, 0, 1, kEpsilon);
  EXPECT_EQ(zero.scaled_residual(0, 0), 0);
  EXPECT_TRUE(zero.passes(0, 0));
  EXPECT_TRUE(zero.settled(0, 0));
}

TEST(EigenConvergence, NaNPassesNothing) {
  for (const Criterion criterion : kCriteria) {
    const EigenConvergence convergence = exact(criterion);
    EXPECT_FALSE(convergence.passes(1, kNaN));
    EXPECT_FALSE(convergence.passes(kNaN, kNaN));
    EXPECT_FALSE(convergence.settled(1, kNaN));
    EXPECT_TRUE(std::isnan(convergence.scaled_residual(1, kNaN)));
    EXPECT_TRUE(std::isnan(convergence.scaled_residual(kNaN, 1)));
  }
}

/// The largest change of λ that counts as settled, by bisection in the exponent.
double settled_limit(const EigenConvergence& convergence, double lambda) {
  double low = -300, high = 300;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    (convergence.settled(lambda, std::pow(10, middle)) ? low : high) = middle;
  }
  return std::pow(10, low);
}

TEST(EigenConvergence, ASettledValueMovesByAHundredthOfWhatIsAllowed) {
  const double allowed = 1e-8 * (1 + 2);
  const EigenConvergence norm(Criterion::norm, 1e-8, 1, 1, kEpsilon);
  EXPECT_NEAR(settled_limit(norm, 2), 0.01 * allowed, 1e-9 * allowed);
  const EigenConvergence relative(Criterion::relative, 1e-8, 1, 1, kEpsilon);
  EXPECT_NEAR(settled_limit(relative, -2), 0.01 * 2e-8, 1e-17);
  EXPECT_FALSE(norm.settled(2, kInfinity));  // before the first step
}

TEST(EigenConvergence, WhereTheNormDwarfsTheValueHalfOfTheDigitsMustStand) {
  const EigenConvergence penalty(Criterion::norm, 1e-8, 1e6, 1, kEpsilon);
  EXPECT_NEAR(settled_limit(penalty, 2), 0.01 * 1e-4 * 2, 1e-14);
}

TEST(EigenConvergence, RoundingDoesNotUnsettleAValue) {
  const EigenConvergence relative(Criterion::relative, 1e-8, 1e3, 1, kEpsilon);
  const double rounding = 10 * kEpsilon * 1e3;
  EXPECT_NEAR(settled_limit(relative, 0), rounding, 1e-9 * rounding);
  EXPECT_EQ(relative.noise_floor(), 100 * kEpsilon);
}

TEST(EigenConvergence, ScalingBChangesNoAnswer) {
  constexpr double kScale = 0x1p20;
  for (const Criterion criterion : {Criterion::norm, Criterion::relative}) {
    const EigenConvergence plain(criterion, 1e-6, 10, 3, kEpsilon);
    const EigenConvergence scaled(criterion, 1e-6, 10, 3 * kScale, kEpsilon);
    for (double size = 1e-12; size < 1; size *= 1.7) {
      EXPECT_EQ(scaled.passes(5 / kScale, size), plain.passes(5, size));
      EXPECT_EQ(scaled.settled(5 / kScale, size / kScale), plain.settled(5, size));
    }
  }
}

}  // namespace
}  // namespace heddle
