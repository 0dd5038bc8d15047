#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using std::numbers::pi;
using test::tolerance;

constexpr detail::ChebyshevInterval kInterval{2, 10};  // c = 6, e = 4

/// T_k(x) in closed form.
double chebyshev(Index k, double x) {
  const double order = static_cast<double>(k);
  if (std::abs(x) <= 1) return std::cos(order * std::acos(x));
  const double outside = std::cosh(order * std::acosh(std::abs(x)));
  return x < 0 && k % 2 == 1 ? -outside : outside;
}

TEST(ChebyshevInterval, AnglesAreThoseOfTheCosine) {
  EXPECT_EQ(kInterval.middle(), 6);
  EXPECT_EQ(kInterval.half_width(), 4);
  EXPECT_NEAR(kInterval.angle(10), 0, 1e-15);
  EXPECT_NEAR(kInterval.angle(8), pi / 3, 1e-15);
  EXPECT_NEAR(kInterval.angle(6), pi / 2, 1e-15);
  EXPECT_NEAR(kInterval.angle(2), pi, 1e-15);
  for (double x = 2; x <= 10; x += 0.25) EXPECT_NEAR(kInterval.at(kInterval.angle(x)), x, 1e-14);
}

TEST(ChebyshevInterval, WhatLiesOutsideCountsAsTheNearestEnd) {
  EXPECT_EQ(kInterval.angle(11), kInterval.angle(10));
  EXPECT_EQ(kInterval.angle(-1e9), kInterval.angle(2));
  EXPECT_EQ(kInterval.at(-1), kInterval.at(0));
  EXPECT_EQ(kInterval.at(4), kInterval.at(pi));
}

/// A filter's polynomial in closed form.
double series(const std::vector<double>& coefficients, double x) {
  double sum = 0;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    sum += coefficients[k] *
           chebyshev(static_cast<Index>(k), (x - kInterval.middle()) / kInterval.half_width());
  }
  return sum;
}

TEST(BandPass, HasValuesFromZeroToOneAndHalfAtBothEnds) {
  constexpr double kFrom = 4, kTo = 7;
  for (const Index degree : {40, 160}) {
    const auto coefficients = detail::band_pass_coefficients(kInterval, kFrom, kTo, degree);
    ASSERT_EQ(std::ssize(coefficients), degree + 1);
    const double width = pi / static_cast<double>(degree);  // of the kernel, in the angle
    for (int i = 0; i <= 1000; ++i) {
      const double x = kInterval.at(pi * i / 1000);
      const double value = series(coefficients, x);
      EXPECT_GE(value, -1e-12) << x;
      EXPECT_LE(value, 1 + 1e-12) << x;
      const double inside = std::min(kInterval.angle(x) - kInterval.angle(kTo),
                                     kInterval.angle(kFrom) - kInterval.angle(x));
      if (std::abs(inside) > 4 * width) {
        EXPECT_NEAR(value, inside > 0 ? 1 : 0, 0.02) << x;
      }
    }
    EXPECT_NEAR(series(coefficients, kFrom), 0.5, 0.01);
    EXPECT_NEAR(series(coefficients, kTo), 0.5, 0.01);
  }
}

TEST(BandPass, KaisersWindowFallsFasterThanJacksonsKernelAndLeavesRipples) {
  constexpr double kFrom = 4, kTo = 7;
  constexpr Index kDegree = 160;
  const auto jackson = detail::band_pass_coefficients(kInterval, kFrom, kTo, kDegree);
  const auto kaiser =
      detail::band_pass_coefficients(kInterval, kFrom, kTo, kDegree, Damping::kaiser);
  const auto fall = [&](const std::vector<double>& coefficients) {
    double angle = kInterval.angle(kFrom);
    while (series(coefficients, kInterval.at(angle)) > 0.1) angle += 1e-4;
    return angle - kInterval.angle(kFrom);
  };
  EXPECT_LT(fall(kaiser), 0.75 * fall(jackson));
  for (int i = 0; i <= 1000; ++i) {
    const double x = kInterval.at(pi * i / 1000);
    EXPECT_GE(series(kaiser, x), -0.05) << x;
    EXPECT_LE(series(kaiser, x), 1.05) << x;
    EXPECT_NEAR(series_value(kaiser, kInterval.angle(x)), series(kaiser, x), 1e-12) << x;
  }
  EXPECT_NEAR(series(kaiser, kFrom), 0.5, 0.01);
  EXPECT_NEAR(series(kaiser, kTo), 0.5, 0.01);
}

TEST(BandPass, IsTheIdentityWhereTheBandIsTheInterval) {
  const auto coefficients = detail::band_pass_coefficients(kInterval, 2, 10, 30);
  EXPECT_NEAR(coefficients[0], 1, 1e-15);
  for (std::size_t k = 1; k < coefficients.size(); ++k) EXPECT_NEAR(coefficients[k], 0, 1e-15);
}

/// Recurrences with diag(d) for d in and slightly outside of the interval, and X of ones that
/// differ in sign from column to column.
template <class T>
class ChebyshevSeries : public testing::Test {
 protected:
  static constexpr Index kCols = 3;

  ChebyshevSeries() : X_(context_, n(), kCols) {
    for (Index i = 0; i < n(); ++i) {
      for (Index j = 0; j < kCols; ++j) X_.view()(i, j) = (i + j) % 2 == 0 ? T{1} : T{-1};
    }
  }

  Index n() const { return std::ssize(diagonal_); }

  /// A stored matrix, which can accumulate.
  SparseOperator<T, HostContext> stored() {
    std::vector<Triplet<T>> entries;
    for (Index i = 0; i < n(); ++i) {
      entries.push_back({i, i, static_cast<T>(diagonal_[static_cast<std::size_t>(i)])});
    }
    return {context_, csr_from_triplets<T>(context_, n(), n(), entries)};
  }

  /// Y is X times f(d) row by row, up to rounding in terms of that size.
  template <class F>
  void expect_rows(ConstBlockView<T, HostSpace> Y, const F& f, double size) {
    ASSERT_EQ(Y.cols(), kCols);
    for (Index i = 0; i < n(); ++i) {
      const double expected = f(diagonal_[static_cast<std::size_t>(i)]);
      for (Index j = 0; j < kCols; ++j) {
        EXPECT_NEAR(static_cast<double>(Y(i, j)), expected * static_cast<double>(X_.view()(i, j)),
                    tolerance<T>(std::max(std::abs(expected), 1.0) * size, 1))
            << "row " << i;
      }
    }
  }

  HostContext context_{2};
  std::vector<double> diagonal_{1.75, 2, 2.5, 3, 4, 5, 6, 6.5, 7, 8, 9, 10, 10.25};
  MultiVector<T, HostSpace> X_;
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ChebyshevSeries, Scalars);

TYPED_TEST(ChebyshevSeries, TermsAreThePolynomialsInClosedForm) {
  using T = TypeParam;
  test::DiagonalOperator<T> plain(this->diagonal_);  // cannot accumulate
  SparseOperator<T, HostContext> stored = this->stored();
  for (LinearOperator<T, HostContext>* A :
       {static_cast<LinearOperator<T, HostContext>*>(&plain),
        static_cast<LinearOperator<T, HostContext>*>(&stored)}) {
    detail::ChebyshevRecurrence<T, HostContext> recurrence(this->context_, this->n(),
                                                           5);  // wider than X
    for (int again = 0; again < 2; ++again) {
      recurrence.start(this->context_, *A, kInterval, this->X_.view());
      for (Index k = 1; k < 25; ++k) {
        SCOPED_TRACE(k);
        const double rounding = static_cast<double>(k * k);  // grows like T_k' outside
        const auto T_k = [&](double d) { return chebyshev(k, (d - 6) / 4); };
        const auto T_before = [&](double d) { return chebyshev(k - 1, (d - 6) / 4); };
        this->expect_rows(recurrence.term(), T_k, rounding);
        this->expect_rows(recurrence.before(), T_before, rounding);
        recurrence.step(this->context_);
      }
    }
  }
}

TYPED_TEST(ChebyshevSeries, AFilterIsTheSumOfItsTerms) {
  using T = TypeParam;
  SparseOperator<T, HostContext> A = this->stored();
  detail::ChebyshevRecurrence<T, HostContext> recurrence(this->context_, this->n(), 3);
  MultiVector<T, HostSpace> Y(this->context_, this->n(), 3);
  for (const std::vector<double>& coefficients :
       {std::vector<double>{0.5, -2},
        {0, 0, 0, 1},
        detail::band_pass_coefficients(kInterval, 4, 7, 20)}) {
    const Index before = A.columns_applied();
    ASSERT_TRUE(detail::apply_series<T>(this->context_, recurrence, A, kInterval, coefficients,
                                        this->X_.view(), Y.view(), [] { return false; }));
    EXPECT_EQ(A.columns_applied() - before, 3 * (std::ssize(coefficients) - 1));
    this->expect_rows(
        Y.view(), [&](double d) { return series(coefficients, d); }, 100);
  }
}

TYPED_TEST(ChebyshevSeries, AFilterStopsBetweenProducts) {
  using T = TypeParam;
  SparseOperator<T, HostContext> A = this->stored();
  detail::ChebyshevRecurrence<T, HostContext> recurrence(this->context_, this->n(), 3);
  MultiVector<T, HostSpace> Y(this->context_, this->n(), 3);
  int asked = 0;
  EXPECT_FALSE(detail::apply_series<T>(this->context_, recurrence, A, kInterval,
                                       std::vector<double>(10, 1.0), this->X_.view(), Y.view(),
                                       [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(A.columns_applied(), 3 * 3);  // T_1, T_2 and T_3
}

}  // namespace
}  // namespace heddle
