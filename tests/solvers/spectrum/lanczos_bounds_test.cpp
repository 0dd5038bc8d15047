#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <limits>
#include <string>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using test::tolerance;

template <class T>
class LanczosBounds : public testing::Test {
 protected:
  detail::SpectrumBounds of_diagonal(const std::vector<double>& diagonal,
                                     Index steps = detail::kBoundsSteps) {
    test::DiagonalOperator<T> A(diagonal);
    return detail::lanczos_bounds<T>(context_, A, steps);
  }

  HostContext context_{2};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(LanczosBounds, Scalars);

/// What the bounds of a spectrum with these ends must satisfy.
void expect_enclosed(const detail::SpectrumBounds& bounds, double least, double greatest,
                     double rounding) {
  EXPECT_LE(bounds.lower, least + rounding);
  EXPECT_GE(bounds.smallest_ritz, least - rounding);
  EXPECT_LE(bounds.largest_ritz, greatest + rounding);
  EXPECT_GE(bounds.upper, greatest - rounding);
  EXPECT_LE(bounds.smallest_ritz, bounds.largest_ritz);
  EXPECT_GE(bounds.smallest_residual, 0);
  EXPECT_GE(bounds.largest_residual, 0);
  EXPECT_LE(bounds.smallest_residual, bounds.smallest_ritz - bounds.lower + rounding);
  EXPECT_LE(bounds.largest_residual, bounds.upper - bounds.largest_ritz + rounding);
}

TYPED_TEST(LanczosBounds, EncloseKnownSpectra) {
  using T = TypeParam;
  for (const GallerySpec& spec : {GallerySpec{"laplace2d", {20, 30}},
                                  {"elasticity3d", {3, 3, 3}},
                                  {"stencil27", {5, 5, 5}}}) {
    SCOPED_TRACE(spec.name);
    const auto A = generate<T>(this->context_, spec);
    const Eigen::VectorXd exact = test::eigenvalues(test::to_dense(A.view()));
    const double greatest = exact(exact.size() - 1);
    const detail::SpectrumBounds bounds = detail::lanczos_bounds<T>(this->context_, A.view());
    expect_enclosed(bounds, exact(0), greatest, tolerance<T>(greatest, 12));
    EXPECT_GT(bounds.largest_ritz, 0.8 * greatest);
    EXPECT_LT(bounds.upper, 1.5 * greatest);
    SparseOperator<T, HostContext> op(this->context_, generate<T>(this->context_, spec));
    EXPECT_EQ(detail::lanczos_bounds<T>(this->context_, op).upper, bounds.upper);
  }
}

TYPED_TEST(LanczosBounds, FollowTheSpectrumWhenItIsShiftedOrTurnedRound) {
  using T = TypeParam;
  const Index n = 100;
  for (const double sign : {1.0, -1.0}) {
    for (const double shift : {-50.0, 0.0, 1000.0}) {
      std::vector<double> diagonal = test::counting(n);
      for (double& d : diagonal) d = sign * (d + shift);
      const auto [least, greatest] = std::minmax_element(diagonal.begin(), diagonal.end());
      expect_enclosed(this->of_diagonal(diagonal), *least, *greatest, tolerance<T>(1100, 12));
    }
  }
}

TYPED_TEST(LanczosBounds, AsManyStepsAsRowsAreExact) {
  using T = TypeParam;
  const std::vector<double> diagonal{-3, 1, 2.5, 7, 11};
  for (const Index steps : {5, 50}) {
    const detail::SpectrumBounds bounds = this->of_diagonal(diagonal, steps);
    const double rounding = tolerance<T>(11, 5, 64);
    EXPECT_NEAR(bounds.smallest_ritz, -3, rounding);
    EXPECT_NEAR(bounds.largest_ritz, 11, rounding);
    EXPECT_NEAR(bounds.lower, -3, rounding);
    EXPECT_NEAR(bounds.upper, 11, rounding);
    EXPECT_NEAR(bounds.largest_residual, 0, rounding);
  }
}

TYPED_TEST(LanczosBounds, AnEigenvalueLiesWithinTheResidualOfEachEnd) {
  const std::vector<double> diagonal = test::counting(200);
  for (const Index steps : {2, 5, 30}) {
    const detail::SpectrumBounds bounds = this->of_diagonal(diagonal, steps);
    const auto distance = [&](double theta) {
      const double nearest = std::clamp(std::round(theta), 1.0, 200.0);
      return std::abs(theta - nearest);
    };
    const double rounding = tolerance<TypeParam>(200, 200);
    EXPECT_LE(distance(bounds.smallest_ritz), bounds.smallest_residual + rounding);
    EXPECT_LE(distance(bounds.largest_ritz), bounds.largest_residual + rounding);
  }
}

TYPED_TEST(LanczosBounds, OfSmallMatricesAreTheirEigenvalues) {
  const double rounding = tolerance<TypeParam>(4, 1);
  const detail::SpectrumBounds one = this->of_diagonal({-4});
  EXPECT_NEAR(one.lower, -4, rounding);
  EXPECT_NEAR(one.upper, -4, rounding);
  const detail::SpectrumBounds multiple = this->of_diagonal(std::vector<double>(30, 4.0));
  EXPECT_NEAR(multiple.smallest_ritz, 4, 30 * rounding);
  expect_enclosed(multiple, 4, 4, 30 * rounding);
  const detail::SpectrumBounds zero = this->of_diagonal(std::vector<double>(30, 0.0));
  EXPECT_EQ(zero.lower, 0);
  EXPECT_EQ(zero.upper, 0);
  const detail::SpectrumBounds empty = this->of_diagonal({});
  EXPECT_EQ(empty.lower, 0);
  EXPECT_EQ(empty.upper, 0);
}

TYPED_TEST(LanczosBounds, AreInfiniteWhereNumbersAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity}) {
    std::vector<double> diagonal = test::counting(20);
    diagonal[3] = bad;
    const detail::SpectrumBounds bounds = this->of_diagonal(diagonal);
    EXPECT_EQ(bounds.lower, -kInfinity);
    EXPECT_EQ(bounds.smallest_ritz, -kInfinity);
    EXPECT_EQ(bounds.largest_ritz, kInfinity);
    EXPECT_EQ(bounds.upper, kInfinity);
    EXPECT_EQ(bounds.largest_residual, kInfinity);
  }
}

}  // namespace
}  // namespace heddle
