#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>

#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::RandomSmall;
using test::tolerance;

struct Decomposition {
  RandomSmall U, sigma, V;
  bool found;
};

Decomposition decompose(ConstSmallView<double, HostSpace> R) {
  Decomposition d{{R.rows, R.cols, 0}, {R.cols, 1, 0}, {R.cols, R.cols, 0}, false};
  d.found = singular_value_decomposition(R, d.U.view(), d.sigma.view(), d.V.view());
  return d;
}

/// max |QᵀQ − I|.
double departure(SmallView<double, HostSpace> Q) {
  double worst = 0;
  for (Index i = 0; i < Q.cols; ++i) {
    for (Index j = 0; j < Q.cols; ++j) {
      double sum = i == j ? -1 : 0;
      for (Index k = 0; k < Q.rows; ++k) sum += Q(k, i) * Q(k, j);
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

/// max |R − U diag(σ) Vᵀ|.
double residual(ConstSmallView<double, HostSpace> R, Decomposition& d) {
  double worst = 0;
  for (Index i = 0; i < R.rows; ++i) {
    for (Index j = 0; j < R.cols; ++j) {
      double sum = R(i, j);
      for (Index k = 0; k < R.cols; ++k) {
        sum -= d.U.view()(i, k) * d.sigma.view()(k, 0) * d.V.view()(j, k);
      }
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

void expect_decomposed(ConstSmallView<double, HostSpace> R) {
  SCOPED_TRACE(R.rows);
  Decomposition d = decompose(R);
  ASSERT_TRUE(d.found);
  const double n = static_cast<double>(R.rows);
  const double allowed = tolerance<double>(n, n);
  EXPECT_LE(residual(R, d), allowed);
  EXPECT_LE(departure(d.U.view()), allowed);
  EXPECT_LE(departure(d.V.view()), allowed);
  for (Index j = 0; j < R.cols; ++j) {
    EXPECT_GE(d.sigma.view()(j, 0), 0);
    if (j > 0) {
      EXPECT_LE(d.sigma.view()(j, 0), d.sigma.view()(j - 1, 0));
    }
  }
}

TEST(SmallSvd, DecomposesRandomMatrices) {
  for (const Index order : {0, 1, 2, 5, 16, 33, 90}) {
    RandomSmall R(order, order, 3);
    expect_decomposed(R.view());
  }
}

TEST(SmallSvd, DecomposesSingularMatrices) {
  for (const Index order : {1, 4, 40}) {
    RandomSmall R(order, order, 5);
    for (Index j = 0; j < order; ++j) {
      for (Index i = 0; i < order; ++i) R.view()(i, j) = i % 3 == 0 ? 0 : R.view()(i, j / 2);
    }
    expect_decomposed(R.view());
  }
}

TEST(SmallSvd, DecomposesTallMatricesOfAllScales) {
  for (const Index cols : {0, 1, 7, 40}) {
    RandomSmall R(50, cols, 3);
    expect_decomposed(R.view());
    for (Index j = 0; j < cols; ++j) {
      for (Index i = 0; i < 50; ++i)
        R.view()(i, j) *= std::pow(10.0, -0.5 * static_cast<double>(j));
    }
    expect_decomposed(R.view());
  }
}

TEST(SmallSvd, DecomposesWhereHalfIsFarBelowTheOtherHalf) {
  for (const double small : {1e-6, 1e-9, 1e-15, 1e-30}) {
    RandomSmall R(80, 60, 3);
    for (Index j = 0; j < 60; j += 2) {
      for (Index i = 0; i < 80; ++i) R.view()(i, j) *= small;
    }
    expect_decomposed(R.view());
  }
}

TEST(SmallSvd, SquaresNeitherOverflowNorVanish) {
  for (const double scale : {1e200, 1e-200}) {
    RandomSmall R(20, 20, 3), scaled(20, 20, 3);
    for (Index j = 0; j < 20; ++j) {
      for (Index i = 0; i < 20; ++i) scaled.view()(i, j) *= scale;
    }
    Decomposition d = decompose(R.view());
    Decomposition e = decompose(scaled.view());
    ASSERT_TRUE(d.found && e.found);
    const double largest = d.sigma.view()(0, 0);
    for (Index j = 0; j < 20; ++j) {
      EXPECT_NEAR(e.sigma.view()(j, 0) / scale, d.sigma.view()(j, 0),
                  tolerance<double>(largest, 20));
    }
  }
}

TEST(SmallSvd, ReadsABlockOfALargerMatrix) {
  RandomSmall R(30, 30, 7);
  expect_decomposed(R.view().block(3, 4, 20, 20));
}

TEST(SmallSvd, SaysWhenNumbersAreNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    RandomSmall R(4, 4, 9);
    R.view()(2, 1) = bad;
    EXPECT_FALSE(decompose(R.view()).found);
  }
}

TEST(SmallSvd, RefusesShapesThatDoNotFit) {
  RandomSmall R(4, 3, 1), square(4, 4, 1), sigma(4, 1, 1);
  EXPECT_THROW(singular_value_decomposition(R.view(), square.view(), sigma.view(), square.view()),
               InvalidArgument);
  EXPECT_THROW(singular_value_decomposition(square.view(), R.view(), sigma.view(), square.view()),
               InvalidArgument);
  EXPECT_THROW(singular_value_decomposition(square.view(), square.view(), R.view(), square.view()),
               InvalidArgument);
}

}  // namespace
}  // namespace heddle
