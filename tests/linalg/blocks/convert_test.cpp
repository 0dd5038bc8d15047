#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <limits>

#include "support/random_block.hpp"

namespace heddle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Convert, ScalesBringNormsBetweenOneAndTwo) {
  HostContext context(2);
  const Index n = 700;
  const double sizes[] = {1, 3e-7, 1e300, 1e-300, 1e308, 1e-320, 0};
  const Index b = std::ssize(sizes);
  test::RandomBlock<double> X(n, b, b + 3, 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < b; ++j) X.view()(i, j) = sizes[j] * (i % 2 == 0 ? 1 : -1);
  }
  SmallMatrix<double, HostSpace> scales(context, b, 2);
  const SmallView<double, HostSpace> s = scales.view(b, 2);
  norm_scales<double>(context, X.view(), s);
  for (Index j = 0; j < b; ++j) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(s(j, 0), &exponent), 0.5) << "not a power of two";
    EXPECT_EQ(s(j, 0) * s(j, 1), 1);
    const double norm = s(j, 0) * sizes[j] * std::sqrt(static_cast<double>(n));
    if (sizes[j] == 0) {
      EXPECT_EQ(s(j, 0), 1);
    } else if (sizes[j] > 1e-308 && sizes[j] < 1e308) {
      EXPECT_GE(norm, 1) << sizes[j];
      EXPECT_LT(norm, 2) << sizes[j];
    } else {  // the exponent is limited, the scaled column fits into single precision nevertheless
      EXPECT_GT(norm, 1e-15) << sizes[j];
      EXPECT_LT(norm, 200) << sizes[j];
    }
  }
}

TEST(Convert, ScalesOfColumnsThatAreNotFinite) {
  HostContext context(2);
  test::RandomBlock<double> X(3, 2, 2, 1);
  X.view()(1, 0) = std::numeric_limits<double>::quiet_NaN();
  X.view()(2, 1) = kInfinity;
  SmallMatrix<double, HostSpace> scales(context, 2, 2);
  const SmallView<double, HostSpace> s = scales.view(2, 2);
  norm_scales<double>(context, X.view(), s);
  EXPECT_EQ(s(0, 0), 1);
  EXPECT_EQ(s(1, 0), 0x1p-1022);
}

TEST(Convert, ScalesFromKnownNorms) {
  HostContext context(2);
  const Index b = 4;
  test::RandomBlock<double> X(500, b, b, 1);
  for (Index i = 0; i < 500; ++i) X.view()(i, 1) *= 1e-250;
  SmallMatrix<double, HostSpace> norms(context, b, 1), scales(context, b, 2), known(context, b, 2);
  norm_scales<double>(context, X.view(), scales.view(b, 2));
  column_norms<double>(context, X.view(), norms.view(b, 1));
  norm_scales(context, norms.view(b, 1), known.view(b, 2));
  for (Index j = 0; j < b; ++j) {
    EXPECT_EQ(known.view(b, 2)(j, 0), scales.view(b, 2)(j, 0));
    EXPECT_EQ(known.view(b, 2)(j, 1), scales.view(b, 2)(j, 1));
  }
}

TEST(Convert, RoundsScaledColumns) {
  HostContext context(2);
  const Index n = 1000, b = 5;
  test::RandomBlock<double> X(n, b, b + 2, 1), back(n, b, b + 1, 2);
  test::RandomBlock<float> Y(n, b, b + 3, 3);
  SmallMatrix<double, HostSpace> factors(context, b, 1);
  for (Index j = 0; j < b; ++j)
    factors.view(b, 1)(j, 0) = std::pow(10.0, static_cast<double>(9 * j - 20));
  convert<float, double>(context, X.view(), factors.view(b, 1), Y.view());
  for (Index j = 0; j < b; ++j) factors.view(b, 1)(j, 0) = static_cast<double>(j);
  convert<double, float>(context, Y.view(), factors.view(b, 1), back.view());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < b; ++j) {
      const double factor = std::pow(10.0, static_cast<double>(9 * j - 20));
      ASSERT_EQ(Y.view()(i, j), static_cast<float>(X.view()(i, j) * factor));
      ASSERT_EQ(back.view()(i, j), static_cast<double>(j) * static_cast<double>(Y.view()(i, j)));
    }
  }
}

TEST(Convert, RoundsOnceWhereRowsAreScaledToo) {
  HostContext context(2);
  const Index n = 1000, b = 5;
  test::RandomBlock<double> X(n, b, b + 2, 1), back(n, b, b + 1, 2);
  test::RandomBlock<float> Y(n, b, b + 3, 3), rows(n, 1, 2, 4);
  test::RandomSmall factors(b, 1, 5);
  convert<float, double, float>(context, rows.view(), X.view(), factors.view(), Y.view());
  convert<double, float, float>(context, rows.view(), Y.view(), factors.view(), back.view());
  for (Index i = 0; i < n; ++i) {
    const auto row = static_cast<double>(rows.view()(i, 0));
    for (Index j = 0; j < b; ++j) {
      const double factor = factors.view()(j, 0);
      ASSERT_EQ(Y.view()(i, j), static_cast<float>(X.view()(i, j) * factor * row));
      ASSERT_EQ(back.view()(i, j), static_cast<double>(Y.view()(i, j)) * factor * row);
    }
  }
  EXPECT_THROW(
      (convert<float, double, float>(context, Y.view(), X.view(), factors.view(), Y.view())),
      InvalidArgument);
}

TEST(Convert, ShapesThatDoNotFitAreNamed) {
  HostContext context(1);
  test::RandomBlock<double> X(4, 3, 3, 1);
  test::RandomBlock<float> Y(4, 2, 2, 1);
  SmallMatrix<double, HostSpace> small(context, 4, 2);
  EXPECT_THROW((convert<float, double>(context, X.view(), small.view(3, 1), Y.view())),
               InvalidArgument);
  EXPECT_THROW((convert<float, double>(context, X.view(), small.view(2, 1), Y.view())),
               InvalidArgument);
  EXPECT_THROW(norm_scales<double>(context, X.view(), small.view(4, 2)), InvalidArgument);
}

}  // namespace
}  // namespace heddle
