#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <limits>
#include <numbers>
#include <string>

#include "solvers/eigen_test_support.hpp"
#include "support/sanitized.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::make_operator;

Index count_between(const std::vector<double>& values, double a, double b) {
  return std::count_if(values.begin(), values.end(),
                       [&](double value) { return a <= value && value <= b; });
}

/// What `count` promises: 4 deviations, and eigenvalues near the ends of [a, b] count in part: the
/// kernel has standard deviation `resolution`, and 3 of them leave nothing to speak of.
void expect_count(const SpectralDensity& density, const std::vector<double>& values, double a,
                  double b) {
  const EigenvalueCount estimate = density.count(a, b);
  const double blur = 3 * density.resolution();
  const auto surely = static_cast<double>(count_between(values, a + blur, b - blur));
  const auto perhaps = static_cast<double>(count_between(values, a - blur, b + blur));
  const double slack = 4 * estimate.deviation + 0.01 * static_cast<double>(values.size());
  EXPECT_GE(estimate.count, surely - slack) << a << " … " << b;
  EXPECT_LE(estimate.count, perhaps + slack) << a << " … " << b;
}

template <class T>
class SpectralDensityOf : public ::testing::Test {
 protected:
  HostContext context_;
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SpectralDensityOf, Scalars);

TYPED_TEST(SpectralDensityOf, LaplaciansHaveTheCountsOfTheirAnalyticEigenvalues) {
  using T = TypeParam;
  for (const std::vector<Index>& size :
       {std::vector<Index>{500}, std::vector<Index>{25, 26}, std::vector<Index>{9, 10, 11}}) {
    auto A =
        make_operator<T>(this->context_, {"laplace" + std::to_string(size.size()) + "d", size});
    const auto values = laplace_smallest_eigenvalues(size, A.rows());
    const auto density = spectral_density<T, HostContext>(this->context_, A);
    EXPECT_LE(density.lower(), values.front());
    EXPECT_GE(density.upper(), values.back());
    EXPECT_LE(density.upper() - density.lower(), 1.05 * (values.back() - values.front()));
    const double top = values.back();
    for (int part = 0; part < 8; ++part) {
      expect_count(density, values, part * top / 8, (part + 1) * top / 8);
    }
    expect_count(density, values, -1, top / 2);
    expect_count(density, values, top / 3, 2 * top);
  }
}

TYPED_TEST(SpectralDensityOf, BinsAddUpToTheOrder) {
  using T = TypeParam;
  DiagonalOperator<T> A(counting(700, -300));
  const auto density = spectral_density<T, HostContext>(this->context_, A);
  double sum = 0;
  const auto bins = density.histogram(13);
  ASSERT_EQ(bins.size(), 13U);
  for (const EigenvalueCount& bin : bins) sum += bin.count;
  EXPECT_NEAR(sum, 700, test::tolerance<double>(700, 512));
  const auto all = density.count(density.lower(), density.upper());
  EXPECT_NEAR(all.count, 700, test::tolerance<double>(700, 512));
  EXPECT_NEAR(density.count(-1e6, 1e6).count, 700, test::tolerance<double>(700, 512));
  EXPECT_NEAR(density.count(1000, 2000).count, 0, test::tolerance<double>(700, 512));
}

TYPED_TEST(SpectralDensityOf, AnEigenvalueOfHighMultiplicityStandsInItsBin) {
  using T = TypeParam;
  std::vector<double> diagonal(600);
  for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = i % 3 == 0 ? -2.0 : 5.0;
  DiagonalOperator<T> A(diagonal);
  const auto density = spectral_density<T, HostContext>(this->context_, A);
  const auto low = density.count(-3, 0);
  const auto high = density.count(4, 6);
  EXPECT_NEAR(low.count, 200, 4 * low.deviation + 1);
  EXPECT_NEAR(high.count, 400, 4 * high.deviation + 1);
  EXPECT_LE(high.deviation, std::sqrt(2 * 400 / 32.0) + 1);
}

TEST(SpectralDensity, ASmallerResolutionTellsCloserEigenvaluesApart) {
  HostContext context;
  std::vector<double> diagonal = counting(300);
  for (std::size_t i = 100; i < 200; ++i) diagonal[i] = i < 150 ? 100.0 : 101.0;
  DiagonalOperator<double> A(diagonal);
  SpectralDensityOptions options;
  options.resolution = 0.15;
  const auto density = spectral_density<double, HostContext>(context, A, options);
  EXPECT_LE(density.resolution(), 0.15);
  const auto cluster = density.count(99.5, 100.5);
  EXPECT_NEAR(cluster.count, 51, 4 * cluster.deviation + 1);
}

TEST(SpectralDensity, OneEigenvalueFarOffIsInsideTheInterval) {
  HostContext context;
  std::vector<double> diagonal = counting(3000);
  diagonal[1234] = 3100;
  diagonal[77] = -50;
  DiagonalOperator<double> A(diagonal);
  const auto density = spectral_density<double, HostContext>(context, A);
  EXPECT_LE(density.lower(), -50);
  EXPECT_GE(density.upper(), 3100);
  EXPECT_TRUE(density.finite());
}

TEST(SpectralDensity, AnEndThatLanczosStepsOverlookWidensTheInterval) {
  HEDDLE_SKIP_WITH_SANITIZER();
  HostContext context;
  constexpr Index kOrder = 20000;
  // The start vector of these steps hardly has the last eigenvector in it.
  MultiVector<double, HostSpace> start(context, kOrder, 1);
  fill_random(context, 0, 0, start.view());
  std::size_t least = 0;
  std::vector<double> diagonal = counting(kOrder);
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    diagonal[i] /= kOrder;
    if (std::abs(start.view().data()[static_cast<Index>(i) * start.ld()]) <
        std::abs(start.view().data()[static_cast<Index>(least) * start.ld()])) {
      least = i;
    }
  }
  diagonal[least] = 1.012;
  DiagonalOperator<double> A(diagonal);
  const detail::SpectrumBounds bounds = detail::lanczos_bounds<double, HostContext>(context, A, 40);
  ASSERT_LT(bounds.largest_ritz + bounds.largest_residual, 1.006);
  const auto density = spectral_density<double, HostContext>(context, A);
  EXPECT_TRUE(density.finite());
  EXPECT_GE(density.upper(), 1.012);
  const auto half = density.count(0, 0.5);
  EXPECT_NEAR(half.count, 10000, 4 * half.deviation + 200);
}

TEST(SpectralDensity, MatricesWithOneEigenvalueAndOfOrderOneAreNoException) {
  HostContext context;
  for (const auto& diagonal : {std::vector<double>(300, 7.0), std::vector<double>(300, 0.0),
                               std::vector<double>{-3.0}, std::vector<double>{1.0, 2.0}}) {
    DiagonalOperator<double> A(diagonal);
    const auto density = spectral_density<double, HostContext>(context, A);
    const auto n = static_cast<double>(diagonal.size());
    EXPECT_EQ(density.order(), A.rows());
    EXPECT_NEAR(density.count(-10, 10).count, n, 1e-12 * n);
    EXPECT_LE(density.lower(), diagonal.front());
    EXPECT_GE(density.upper(), diagonal.back());
  }
}

TEST(SpectralDensity, TheSameSeedGivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<double> counts;
  for (const int threads : {1, 2, 2}) {
    HostContext context(threads);
    auto A = make_operator<double>(context, {"laplace2d", {30, 31}});
    counts.push_back(spectral_density<double, HostContext>(context, A).count(1, 3).count);
  }
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(counts[1], counts[2]);
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {30, 31}});
  SpectralDensityOptions options;
  options.seed = 7;
  EXPECT_NE((spectral_density<double, HostContext>(context, A, options).count(1, 3).count),
            counts[0]);
}

TEST(SpectralDensity, AnUnevenLastBlockChangesNothingButRounding) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  SpectralDensityOptions options;
  options.vectors = 3;
  options.block_size = 2;
  const auto density = spectral_density<double, HostContext>(context, A, options);
  EXPECT_NEAR(density.count(-1, 9).count, 420, test::tolerance<double>(420, 512));
  expect_count(density, laplace_smallest_eigenvalues({20, 21}, 420), 2, 4);
  options.vectors = 1;
  EXPECT_EQ((spectral_density<double, HostContext>(context, A, options).count(2, 4).deviation), 0);
}

TEST(SpectralDensity, ProductsThatAreNotFiniteShow) {
  HostContext context;
  std::vector<double> diagonal = counting(50);
  diagonal[7] = std::numeric_limits<double>::quiet_NaN();
  DiagonalOperator<double> A(diagonal);
  const auto density = spectral_density<double, HostContext>(context, A);
  EXPECT_FALSE(density.finite());
}

TEST(SpectralDensity, TheLargestDegreeLimitsProducts) {
  HostContext context;
  DiagonalOperator<double> A(counting(400));
  SpectralDensityOptions options;
  options.resolution = 0.1;
  options.max_degree = 200;
  options.vectors = 4;
  const auto density = spectral_density<double, HostContext>(context, A, options);
  EXPECT_NEAR(density.resolution(),
              std::numbers::pi / 200 * 0.5 * (density.upper() - density.lower()), 1e-9);
  EXPECT_LE(A.columns_applied(), 40 + 4 * 100);  // Lanczos steps, and two moments per product
}

TEST(SpectralDensity, MisuseIsToldWithBothSides) {
  HostContext context;
  DiagonalOperator<double> A(counting(20));
  const auto message = [&](LinearOperator<double, HostContext>& op,
                           const SpectralDensityOptions& options) {
    try {
      spectral_density<double, HostContext>(context, op, options);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  SpectralDensityOptions options;
  options.vectors = 0;
  EXPECT_NE(message(A, options).find("there are 0"), std::string::npos);
  options = {};
  options.block_size = 0;
  EXPECT_NE(message(A, options).find("it is 0"), std::string::npos);
  options = {};
  options.resolution = -1;
  EXPECT_NE(message(A, options).find("it is -1"), std::string::npos);
  options = {};
  options.max_degree = 10;
  EXPECT_NE(message(A, options).find("at least 64, it is 10"), std::string::npos);
  DiagonalOperator<double> empty(std::vector<double>{});
  EXPECT_NE(message(empty, {}).find("0x0"), std::string::npos);
  const auto density = spectral_density<double, HostContext>(context, A);
  EXPECT_THROW(density.histogram(0), InvalidArgument);
}

TEST(BandPass, IsTheSmoothedIndicatorOfItsInterval) {
  const detail::ChebyshevInterval interval{-3, 5};
  const auto c = detail::band_pass_coefficients(interval, 0, 2, 200);
  ASSERT_EQ(c.size(), 201U);
  const auto value = [&](double x) {
    double sum = 0;
    const double angle = interval.angle(x);
    for (std::size_t k = 0; k < c.size(); ++k) sum += c[k] * std::cos(double(k) * angle);
    return sum;
  };
  const double sigma = std::numbers::pi / 200 * interval.half_width();
  EXPECT_NEAR(value(0), 0.5, 0.01);
  EXPECT_NEAR(value(2), 0.5, 0.01);
  EXPECT_GE(value(1), 0.99);
  EXPECT_LE(value(0 - 4 * sigma), 0.01);
  EXPECT_LE(value(2 + 4 * sigma), 0.01);
  for (double x = -3; x <= 5; x += 0.01) {
    EXPECT_GE(value(x), -1e-12) << x;
    EXPECT_LE(value(x), 1 + 1e-12) << x;
  }
}

}  // namespace
}  // namespace heddle
