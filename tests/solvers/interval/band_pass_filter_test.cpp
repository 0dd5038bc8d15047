#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/solvers/interval/band_pass_filter.hpp>
#include <heddle/solvers/interval/filter_plan.hpp>
#include <numbers>

#include "solvers/eigen_test_support.hpp"

namespace heddle::detail {
namespace {

using test::counting;
using test::DiagonalOperator;

constexpr ChebyshevInterval kSpectrum{0, 1};

/// The values of F at all places of an even grid of the spectrum.
std::vector<double> values(HostContext& context, BandPassFilter<double, HostContext>& F, Index n) {
  MultiVector<double, HostSpace> ones(context, n, 1), product(context, n, 1);
  for (Index i = 0; i < n; ++i) ones.view()(i, 0) = 1;
  F.apply(context, ones.view(), product.view());
  std::vector<double> result;
  for (Index i = 0; i < n; ++i) result.push_back(product.view()(i, 0));
  return result;
}

TEST(BandPassFilter, IsAtLeastItsLevelOnTheIntervalAndSmallAwayFromIt) {
  HostContext context;
  constexpr Index kOrder = 2001;
  std::vector<double> grid = counting(kOrder);
  for (double& x : grid) x = (x - 1) / (kOrder - 1);
  DiagonalOperator<double> A(grid);
  BandPassFilter<double, HostContext> F(context, A, 1, [] { return false; });
  struct Case {
    double a, b;
    Index degree;
  };
  for (const Case& c : {Case{0.4, 0.5, 100}, Case{0.4, 0.401, 60}, Case{0.3, 0.3, 80},
                        Case{-1, 0.2, 50}, Case{0.9, 2, 50}, Case{-1, 2, 20}}) {
    SCOPED_TRACE(c.a);
    const AngleRange range{kSpectrum.angle(c.b), kSpectrum.angle(c.a)};
    F.set(kSpectrum, range, c.degree);
    EXPECT_EQ(F.degree(), c.degree);
    EXPECT_GT(F.level(), 0.3);
    EXPECT_LE(F.level(), 1);
    const std::vector<double> F_of = values(context, F, kOrder);
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const double angle = kSpectrum.angle(grid[i]);
      const double outside = std::max(range.from - angle, angle - range.to);
      if (outside <= 0) {
        EXPECT_GE(F_of[i], F.level() - 1e-3) << grid[i];
      } else {
        EXPECT_LE(F_of[i], F.level() + 1e-9) << grid[i];
      }
      if (outside > 5 / static_cast<double>(c.degree)) {
        EXPECT_LE(std::abs(F_of[i]), 0.1) << grid[i];
      }
      EXPECT_LE(F_of[i], 1.1) << grid[i];
    }
  }
}

TEST(BandPassFilter, StopsBetweenProducts) {
  HostContext context;
  DiagonalOperator<double> A(counting(50));
  Index asked = 0;
  BandPassFilter<double, HostContext> F(context, A, 1, [&] { return ++asked == 5; });
  F.set({0, 51}, {1, 1.1}, 100);
  values(context, F, 50);
  EXPECT_TRUE(F.stopped());
  EXPECT_EQ(A.columns_applied(), 5);
  EXPECT_EQ(asked, 5);
}

/// The density of n eigenvalues whose angles are evenly distributed: all moments but the first are
/// zero.
SpectralDensity even_angles(Index n) {
  std::vector<double> moments(2 * 2049, 0.0);
  moments[0] = moments[2049] = 1;
  return {n, -1, 1, 2048, moments};
}

TEST(FilterPlan, ExpectsColumnsForTheEigenvaluesThatTheFilterPasses) {
  constexpr Index kOrder = 100'000;
  const SpectralDensity density = even_angles(kOrder);
  const AngleRange range{1, 1.01};
  for (const double degree : {50., 400., 1000.}) {
    const double angles = 0.01 + 6 / degree;
    EXPECT_NEAR(expected_columns(density, range, degree, 8),
                1.45 * kOrder * angles / std::numbers::pi + 40, 1)
        << degree;
  }
}

TEST(FilterPlan, ANarrowBasisOrExpensiveSmallProblemsNeedAHighDegree) {
  constexpr Index kOrder = 100'000;
  const SpectralDensity density = even_angles(kOrder);
  const AngleRange range{1, 1.001};
  const FilterPlan wide = plan_filter(density, range, {kOrder, 8, 4000, 1});
  const FilterPlan narrow = plan_filter(density, range, {kOrder, 8, 200, 1});
  const FilterPlan expensive = plan_filter(density, range, {kOrder, 8, 4000, 100});
  EXPECT_TRUE(wide.fits && narrow.fits && expensive.fits);
  EXPECT_LE(narrow.columns, 200);
  EXPECT_GT(narrow.degree, wide.degree);
  EXPECT_GT(expensive.degree, wide.degree);
  EXPECT_LT(expensive.columns, wide.columns);
  const FilterPlan hopeless = plan_filter(density, {1, 2}, {kOrder, 8, 200, 1});
  EXPECT_FALSE(hopeless.fits);
  EXPECT_EQ(hopeless.degree, kMaxFilterDegree);
  EXPECT_EQ(hopeless.columns, 200);
}

}  // namespace
}  // namespace heddle::detail
