#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/small/one_sided_jacobi.hpp>
#include <limits>
#include <vector>

namespace heddle {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

class Small {
 public:
  explicit Small(Index n) : n_(n), values_(static_cast<std::size_t>(n * n)) {}
  double& operator()(Index i, Index j) { return view()(i, j); }
  SmallView<double, HostSpace> view() { return {values_.data(), n_, n_, n_}; }

 private:
  Index n_;
  std::vector<double> values_;
};

/// The eigenvalues of [a c; c b] in long double, the larger one first.
std::vector<double> of_two(long double a, long double b, long double c) {
  const long double half = (a + b) / 2;
  const long double larger = half + std::hypot((a - b) / 2, c);
  return {static_cast<double>(larger), static_cast<double>((a * b - c * c) / larger)};
}

TEST(OneSidedJacobi, SmallValuesBesideHugeOnesKeepTheirDigits) {
  // G = X D with X of ones on the diagonal and 0.5 beside it.
  for (const double scale : {1.0, 1e-5, 1e-12, 1e-40, 1e-80}) {
    Small G(2);
    G(0, 0) = 1;
    G(1, 0) = 0.5;
    G(0, 1) = 0.5 * scale;
    G(1, 1) = scale;
    const long double s = scale;
    const std::vector<double> truth = of_two(1 + s * s / 4, 0.25L + s * s, 0.5L + 0.5L * s * s);
    const double smaller = static_cast<double>(0.5625L * s * s / truth[0]);  // det(G)²/θ₁
    const std::vector<double> theta = one_sided_jacobi(G.view());
    ASSERT_EQ(theta.size(), 2u);
    EXPECT_NEAR(theta[0] / truth[0], 1, 20 * kEpsilon) << scale;
    EXPECT_NEAR(theta[1] / smaller, 1, 20 * kEpsilon) << scale;
  }
}

TEST(OneSidedJacobi, DiagonalisesTheProductWithItsTranspose) {
  const Index n = 40;
  Small G(n), original(n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      G(i, j) = (i == j ? 3 : std::sin(static_cast<double>(7 * i + 3 * j + 1))) *
                std::pow(10.0, -static_cast<double>((j * 11) % n));
      original(i, j) = G(i, j);
    }
  }
  const std::vector<double> theta = one_sided_jacobi(G.view());
  ASSERT_EQ(std::ssize(theta), n);
  for (Index a = 0; a < n; ++a) {
    if (a > 0) {
      EXPECT_LE(theta[static_cast<std::size_t>(a)], theta[static_cast<std::size_t>(a - 1)]);
    }
    for (Index b = 0; b < n; ++b) {
      double dot = 0;
      for (Index i = 0; i < n; ++i) dot += G(i, a) * G(i, b);
      EXPECT_NEAR(dot, a == b ? 1 : 0, 1e3 * kEpsilon);
    }
  }
  for (Index a = 0; a < n; ++a) {
    for (Index b = 0; b < n; ++b) {
      double expected = 0, made = 0;
      for (Index k = 0; k < n; ++k) {
        expected += original(a, k) * original(b, k);
        made += G(a, k) * theta[static_cast<std::size_t>(k)] * G(b, k);
      }
      EXPECT_NEAR(made, expected, 1e3 * kEpsilon * theta[0]);
    }
  }
}

TEST(OneSidedJacobi, ZeroColumnsAndNumbersThatAreNotFinite) {
  Small zero(3);
  EXPECT_EQ(one_sided_jacobi(zero.view()), std::vector<double>(3, 0.0));
  Small bad(2);
  bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(one_sided_jacobi(bad.view()).empty());
}

TEST(FactorSemidefinite, GivesTheMatrixBackForMassesOfAnySize) {
  // diag(d) [2 1 0; 1 2 1; 0 1 2] diag(d) beside a row of zeros.
  const std::vector<double> d = {1, 1e-9, 1e7};
  Small B(4), M(4);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      const double entry = i == j ? 2 : std::abs(i - j) == 1 ? 1 : 0;
      B(i, j) = M(i, j) = entry * d[static_cast<std::size_t>(i)] * d[static_cast<std::size_t>(j)];
    }
  }
  ASSERT_TRUE(factor_semidefinite(M.view()));
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      double sum = 0;
      for (Index k = 0; k < 4; ++k) sum += M(i, k) * M(j, k);
      EXPECT_NEAR(sum, B(i, j), 20 * kEpsilon * std::sqrt(B(i, i) * B(j, j))) << i << ' ' << j;
    }
  }
}

TEST(FactorSemidefinite, IndefiniteMatricesHaveNone) {
  Small B(2);
  B(0, 0) = B(1, 1) = 1;
  B(0, 1) = B(1, 0) = 2;
  EXPECT_FALSE(factor_semidefinite(B.view()));
  Small negative(2);
  negative(0, 0) = -1;
  EXPECT_FALSE(factor_semidefinite(negative.view()));
}

}  // namespace
}  // namespace heddle
