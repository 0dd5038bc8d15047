#include <gtest/gtest.h>

#include <heddle/solvers/cg/spd_probe.hpp>
#include <limits>
#include <vector>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

constexpr Index kRows = 40;
constexpr Index kProbes = 4;

template <Scalar T>
SpdProbe probe(LinearOperator<T, HostContext>& M, bool lowered = false) {
  HostContext context(2);
  Packet<HostContext> packet(context, kProbes * kProbes);
  MultiVector<T, HostSpace> Y(context, M.rows(), kProbes), MY(context, M.rows(), kProbes);
  return probe_spd<T>(context, M, lowered, packet, Y.view(), MY.view());
}

/// y_i = d x_i + above x_{i+1} + below x_{i−1}.
SpdProbe probe_tridiagonal(double d, double above, double below, bool lowered = false) {
  test::FunctionOperator M(kRows, [=](auto X, auto Y) {
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        Y(i, j) = d * X(i, j) + (i + 1 < kRows ? above * X(i + 1, j) : 0) +
                  (i > 0 ? below * X(i - 1, j) : 0);
      }
    }
  });
  return probe<double>(M, lowered);
}

template <class T>
class SpdProbeTest : public testing::Test {
 protected:
  static SpdProbe probe_diagonal(std::vector<double> diagonal) {
    test::DiagonalOperator<T> M(std::move(diagonal));
    return probe<T>(M);
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(SpdProbeTest, Scalars);

TYPED_TEST(SpdProbeTest, WhatIsPositiveDefinitePasses) {
  EXPECT_EQ(this->probe_diagonal(test::counting(kRows)), SpdProbe::passed);
  std::vector<double> wide = test::counting(kRows);
  for (std::size_t i = 0; i < wide.size(); i += 2) wide[i] *= 1e10;
  EXPECT_EQ(this->probe_diagonal(wide), SpdProbe::passed);
}

TYPED_TEST(SpdProbeTest, WhatIsPlainlyIndefiniteIsFound) {
  EXPECT_EQ(this->probe_diagonal(test::counting(kRows, -kRows)), SpdProbe::indefinite);
  EXPECT_EQ(this->probe_diagonal(std::vector<double>(kRows, 0.0)), SpdProbe::indefinite);
}

TYPED_TEST(SpdProbeTest, NumbersThatAreNotFiniteAreFound) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> diagonal = test::counting(kRows);
    diagonal[7] = bad;
    EXPECT_EQ(this->probe_diagonal(diagonal), SpdProbe::not_finite);
  }
}

TEST(SpdProbe, AsymmetryBeyondHalfOfTheDigitsIsFound) {
  EXPECT_EQ(probe_tridiagonal(4, -1, -1), SpdProbe::passed);
  EXPECT_EQ(probe_tridiagonal(4, -1, -1 - 1e-12), SpdProbe::passed);
  EXPECT_EQ(probe_tridiagonal(4, -1, -1 - 1e-4), SpdProbe::asymmetric);
  EXPECT_EQ(probe_tridiagonal(4, -1, 1), SpdProbe::asymmetric);
  EXPECT_EQ(probe_tridiagonal(4, -1, -1 - 1e-4, true), SpdProbe::passed) << "lower precision";
  EXPECT_EQ(probe_tridiagonal(4, -1, 1, true), SpdProbe::asymmetric);
}

}  // namespace
}  // namespace heddle
