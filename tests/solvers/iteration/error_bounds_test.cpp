#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <random>
#include <support/decompositions.hpp>
#include <vector>

namespace heddle::detail {
namespace {

constexpr double kUnknown = ErrorBounds::kUnknown;
constexpr double kNoneBeyond = ErrorBounds::kNoneBeyond;

std::vector<double> bounds_of(const std::vector<double>& values,
                              const std::vector<double>& residuals, double below = kNoneBeyond,
                              double above = kUnknown, Index placed = 0) {
  ErrorBounds bounds;
  for (std::size_t j = 0; j < values.size(); ++j) bounds.add(values[j], residuals[j]);
  bounds.compute(below, above, -std::numeric_limits<double>::infinity(), placed);
  std::vector<double> result;
  for (Index j = 0; j < bounds.size(); ++j) result.push_back(bounds.bound(j));
  return result;
}

TEST(ErrorBounds, AnIsolatedValueHasTheSquareOverTheGap) {
  const std::vector<double> bounds = bounds_of({1, 2, 4}, {1e-4, 1e-5, 1e-3});
  EXPECT_NEAR(bounds[0], 1.01e-8 / (3 - 1e-3), 1e-14) << "as one of the group of the first two";
  EXPECT_NEAR(bounds[1], 1e-10 / (1 - 1e-4), 1e-16);
  EXPECT_EQ(bounds[2], 1e-3) << "nothing is known of what lies above";
}

TEST(ErrorBounds, TheSpreadOfAGroupGivesItsBoundForAnyGap) {
  ErrorBounds bounds;
  bounds.add(1, 3e-4);
  bounds.add(1 + 1e-6, 4e-4);
  bounds.add(3, 1e-2);
  bounds.compute(kNoneBeyond, kUnknown);
  EXPECT_NEAR(bounds.spread(0), 5e-4, 1e-18);
  EXPECT_DOUBLE_EQ(bounds.bound(0), ErrorBounds::change(bounds.spread(0), 2 - 1e-2));
  EXPECT_EQ(bounds.spread(2), 1e-2) << "the residual, as no gap is known";
  EXPECT_DOUBLE_EQ(ErrorBounds::change(3, 0), 3);  // of [0 3; 3 0]
  EXPECT_DOUBLE_EQ(ErrorBounds::change(2, 3), 1);  // of [3 2; 2 0]
  EXPECT_EQ(ErrorBounds::change(2, kNoneBeyond), 0);
}

TEST(ErrorBounds, SquaresMayUnderflow) {
  const double tiny = 0x1p-600;
  const std::vector<double> values{1, 1 + 1e-6, 3};
  const std::vector<double> residuals{1e-4, 2e-4, 1e-2};
  const auto scaled = [&](std::vector<double> numbers) {
    for (double& each : numbers) each *= tiny;
    return numbers;
  };
  for (const Index placed : {0, 3}) {
    EXPECT_EQ(bounds_of(scaled(values), scaled(residuals), kNoneBeyond, kUnknown, placed),
              scaled(bounds_of(values, residuals, kNoneBeyond, kUnknown, placed)));
  }
  ErrorBounds block;  // of [2 1; 1 2], whose eigenvalues are 1 and 3
  for (int j = 0; j < 2; ++j) block.add(2 * tiny, tiny, true, tiny);
  block.compute(kNoneBeyond, kNoneBeyond);
  EXPECT_GE(block.bound(0), tiny);
  EXPECT_GE(block.bound(1), tiny);
}

TEST(ErrorBounds, TheOrderOfThePairsDoesNotMatter) {
  const std::vector<double> ascending = bounds_of({1, 2, 4}, {1e-4, 1e-5, 1e-3});
  const std::vector<double> mixed = bounds_of({4, 1, 2}, {1e-3, 1e-4, 1e-5});
  EXPECT_EQ(mixed, (std::vector<double>{ascending[2], ascending[0], ascending[1]}));
}

TEST(ErrorBounds, AClusterIsBoundedTogether) {
  const std::vector<double> bounds = bounds_of({1, 1 + 1e-6, 3}, {1e-4, 2e-4, 1e-2});
  const double expected = 5e-8 / (2 - 1e-2);
  EXPECT_NEAR(bounds[0], expected, 1e-6 * expected);
  EXPECT_NEAR(bounds[1], expected, 1e-6 * expected);
}

TEST(ErrorBounds, AValueOfAClusterIsBoundedByAllResidualsIfItsPlaceCounts) {
  // The eigenvalues of [0 c; c 0] ⊕ 0 are −c, 0, c. The unit vectors have the values 0, and the
  // third is an eigenvector. It is yet not the third eigenvalue.
  const double c = 1e-3;
  const std::vector<double> bounds =
      bounds_of({-1e-9, 0, 1e-9}, {c, c, 0}, kNoneBeyond, kUnknown, 3);
  EXPECT_GE(bounds[2], c);
  EXPECT_GE(bounds_of({-1e-9, 0, 1e-9}, {0, c, c}, kUnknown, kNoneBeyond, 3)[0], c);
}

TEST(ErrorBounds, AWideIntervalJoinsFarValuesIfItsPlaceCounts) {
  // The eigenvalue near 10 may be the smallest of all, as its interval reaches down to −90.
  const std::vector<double> values{1, 2, 10};
  const std::vector<double> residuals{1e-6, 1e-6, 100};
  EXPECT_LE(bounds_of(values, residuals, kUnknown, kUnknown)[0], 1e-6) << "some eigenvalue";
  EXPECT_GE(bounds_of(values, residuals, kUnknown, kUnknown, 3)[0], 91) << "the smallest";
  EXPECT_EQ(bounds_of(values, residuals, kUnknown, kUnknown, 2)[0], 1e-6)
      << "the third pair is a neighbour, whose place does not count";
}

TEST(ErrorBounds, OfAGroupIncludeTheCouplingThatRoundingLeaves) {
  const auto bound = [](double coupling) {
    ErrorBounds bounds;
    bounds.add(1, 1e-6, true, coupling);
    bounds.add(1 + 1e-7, 1e-6, true, coupling);
    bounds.add(2, 1e-6);
    bounds.compute(kNoneBeyond, kUnknown);
    return bounds.bound(0);
  };
  EXPECT_NEAR(bound(0), 2e-12, 1e-15);
  EXPECT_NEAR(bound(1e-8), std::sqrt(2) * 1e-8, 1e-11);
}

TEST(ErrorBounds, PartsBetweenPairsCountWithinAGroup) {
  ErrorBounds bounds;
  const double tiny = 1e-3;
  const auto compute = [&](const std::vector<double>& parts) {
    bounds.clear();
    bounds.add(1, tiny);
    bounds.add(2, tiny);
    bounds.add(2 + 1e-4, tiny);  // the neighbour of the second one
    bounds.set_parts(parts, 2);
    bounds.compute(kUnknown, kNoneBeyond);
    return std::vector<double>{bounds.bound(0), bounds.bound(1)};
  };
  const std::vector<double> without = compute({});
  EXPECT_EQ(compute({5e-4, 0}), without) << "a part along a vector far away";
  const std::vector<double> with = compute({0, 5e-4});
  EXPECT_EQ(with[0], without[0]);
  EXPECT_NEAR(with[1], without[1] + 5e-4, 1e-12);
}

TEST(ErrorBounds, WithoutAGapTheResidualIsTheBound) {
  EXPECT_EQ(bounds_of({1, 1.5}, {1e-3, 1})[0], 1e-3) << "the next interval covers the value";
  EXPECT_EQ(bounds_of({1}, {1e-3})[0], 1e-3);
  EXPECT_EQ(bounds_of({1}, {1e-3}, kNoneBeyond, kNoneBeyond)[0], 0) << "the only eigenvalue";
  EXPECT_EQ(bounds_of({1, 2}, {1e-3, 1e-3}, kUnknown, kUnknown), (std::vector<double>{1e-3, 1e-3}));
}

TEST(ErrorBounds, AnEigenvalueBesideThePairsEndsTheGap) {
  const auto bounds_with = [](double rest) {
    ErrorBounds bounds;
    for (const double value : {-1, -2, -100}) bounds.add(value, 1e-2);
    bounds.compute(kUnknown, kNoneBeyond, rest);
    return std::vector<double>{bounds.bound(0), bounds.bound(1)};
  };
  EXPECT_LT(bounds_with(-100)[1], 3e-6) << "nothing is known between -2 and -100";
  EXPECT_NEAR(bounds_with(-2.5)[1], 1e-4 / 0.5, 1e-4) << "a gap of 0.5";
  EXPECT_EQ(bounds_with(-1.5)[1], 1e-2) << "an eigenvalue above -1.5 is not among the pairs";
  EXPECT_NEAR(bounds_with(-1.5)[0], 1e-4 / 0.5, 1e-6);
}

TEST(ErrorBounds, APairOfAnotherBasisOnlyShowsWhereAnEigenvalueLies) {
  const auto first_of = [](double next) {
    ErrorBounds bounds;
    bounds.add(1, 1e-4);
    bounds.add(next, 0, false);
    bounds.add(4, 0, false);
    bounds.compute(kNoneBeyond, kUnknown);
    return bounds.bound(0);
  };
  EXPECT_NEAR(first_of(2), 1e-8, 1e-15) << "the gap does not reach beyond it";
  EXPECT_EQ(first_of(1 + 1e-5), 1e-4) << "it lies in the interval of the value";
}

TEST(ErrorBounds, NaNIsABoundOfNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(bounds_of({1, 2, 4}, {nan, 1e-3, 1e-3})[0]));
  EXPECT_EQ(bounds_of({1, 2, 4}, {1e-3, nan, 1e-3})[0], 1e-3);
}

/// Ritz pairs of random matrices over spaces near the wanted one, with the bounds of the Ritz
/// values against a dense solve.
TEST(ErrorBounds, HoldForRitzPairsOfRandomMatrices) {
  using Eigen::MatrixXd;
  using Eigen::VectorXd;
  std::mt19937 engine(7);
  std::normal_distribution<double> normal;
  constexpr Index n = 40, k = 8;
  Index quadratic = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const auto random = [&](Index rows, Index cols) {
      MatrixXd M(rows, cols);
      for (double& x : M.reshaped()) x = normal(engine);
      return M;
    };
    VectorXd spectrum(n);
    for (Index i = 0; i < n; ++i)
      spectrum(i) = trial % 2 == 0 ? double(i) : double(i / 3) + 1e-7 * double(i);
    const MatrixXd Q = test::orthogonal_factors(random(n, n)).Q;
    const MatrixXd A = Q * spectrum.asDiagonal() * Q.transpose();
    const double spread = std::pow(10.0, -1 - trial % 5);
    MatrixXd X = test::orthogonal_factors(Q.leftCols(k) + spread * random(n, k) / std::sqrt(n)).Q;
    const test::DenseEigenpairs ritz = test::eigenpairs(X.transpose() * A * X);
    X = X * ritz.vectors;
    std::vector<double> values, residuals;
    for (Index j = 0; j < k; ++j) {
      values.push_back(ritz.values(j));
      residuals.push_back((A * X.col(j) - values.back() * X.col(j)).norm());
    }
    const std::vector<double> bounds = bounds_of(values, residuals);
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double error = std::abs(values[j] - spectrum(static_cast<Index>(j)));
      EXPECT_LE(error, bounds[j] * (1 + 1e-9) + 1e-12) << "trial " << trial << ", pair " << j;
      if (bounds[j] < 0.1 * residuals[j]) ++quadratic;
    }
  }
  EXPECT_GT(quadratic, 100) << "the gaps were hardly ever used";
}

/// `errors` of values, sorted as they are counted from that end, after `widen`. The interval of one
/// value is added as that of a neighbour.
std::vector<double> widened(const std::vector<double>& values, std::vector<double> errors,
                            Which end) {
  PlaceIntervals places;
  places.clear(end);
  places.add(values.back() - errors.back(), values.back() + errors.back());
  errors.pop_back();
  places.widen(values, errors);
  return errors;
}

TEST(PlaceIntervals, AWideOneMayTakeEveryPlaceThatItReaches) {
  const std::vector<double> expected{10, 2.25, 7, 0.25};
  const std::vector<double> errors{10, 0.25, 0.25, 0.25, 0.25};
  EXPECT_EQ(widened({0, 1, 3, 20, 30}, errors, Which::smallest), expected);
  EXPECT_EQ(widened({0, -1, -3, -20, -30}, errors, Which::largest), expected);
}

TEST(PlaceIntervals, ANeighbourEndsTheRangeOfTheLastValue) {
  EXPECT_EQ(widened({0, 1}, {10, 0.25}, Which::smallest), std::vector<double>{10});
  EXPECT_EQ(widened({0, 1, 3}, {10, 0.25, 0.25}, Which::smallest), (std::vector<double>{10, 2.25}));
}

TEST(PlaceIntervals, ApartOrOfOneRadiusTheyChangeNothing) {
  const auto first = [](std::vector<double> errors) {
    errors.pop_back();
    return errors;
  };
  const std::vector<double> apart{1, 0.5, 0.125}, same{0.5, 0.5, 0.5};
  EXPECT_EQ(widened({1, 3, 4}, apart, Which::smallest), first(apart));
  EXPECT_EQ(widened({4, 2, 1}, apart, Which::largest), first(apart));
  EXPECT_EQ(widened({1, 1.25, 1.5}, same, Which::smallest), first(same));
}

TEST(PlaceIntervals, HoldForEigenvaluesAnywhereInThem) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-1, 1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> values, radii, exact;
    for (int j = 0; j < 8; ++j) values.push_back(place(random));
    std::sort(values.begin(), values.end());
    for (const double value : values) {
      radii.push_back(std::pow(10, 2 * place(random) - 2));
      exact.push_back(value + radii.back() * place(random));
    }
    std::sort(exact.begin(), exact.end());
    const std::vector<double> errors = widened(values, radii, Which::smallest);
    for (std::size_t j = 0; j < errors.size(); ++j) {
      EXPECT_LE(std::abs(values[j] - exact[j]), errors[j] + 1e-15);
    }
  }
}

TEST(PlaceIntervals, NaNReachesEveryPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> errors = widened({1, 2, 3}, {nan, 0.25, 0.25}, Which::smallest);
  EXPECT_TRUE(std::isnan(errors[0]));
  EXPECT_EQ(errors[1], 1.25);
}

}  // namespace
}  // namespace heddle::detail
