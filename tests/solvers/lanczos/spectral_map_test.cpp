#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/lanczos/spectral_map.hpp>

#include "support/tolerance.hpp"

namespace heddle::detail {
namespace {

/// T_d(x) by its three-term recurrence.
double chebyshev(int degree, double x) {
  double before = 1, term = x;
  for (int k = 2; k <= degree; ++k) {
    const double next = 2 * x * term - before;
    before = term;
    term = next;
  }
  return term;
}

TEST(SpectralMap, CItselfPutsTheWantedEndFirst) {
  const SpectralMap smallest(Which::smallest), largest(Which::largest);
  EXPECT_TRUE(smallest.before(1, 2));
  EXPECT_TRUE(largest.before(2, 1));
  EXPECT_EQ(smallest.theta_of(3), -3);
  EXPECT_EQ(largest.theta_of(3), 3);
  for (const SpectralMap& map : {smallest, largest}) {
    EXPECT_EQ(map.lambda_at(map.theta_of(-0.7)), -0.7);
    EXPECT_EQ(map.residual_bound(5, 0.25), 0.25);
    EXPECT_EQ(map.degree(), 1);
    EXPECT_FALSE(map.filters());
    EXPECT_FALSE(map.inverts());
  }
}

TEST(SpectralMap, APolynomialIsTheOneOfTheRecurrence) {
  for (const Which which : {Which::smallest, Which::largest}) {
    for (const int degree : {4, 7, 30}) {
      SpectralMap map(which);
      map.set_filter({{2, 10}, degree});
      for (const double y : {-1.0, 0.5, 1.9}) {
        const double theta = chebyshev(degree, (6 - y) / 4);
        const double lambda = map.sign() * y;
        EXPECT_NEAR(map.theta_of(lambda) / theta, 1, test::tolerance<double>(degree, degree));
        EXPECT_NEAR(map.lambda_at(theta), lambda, test::tolerance<double>(10, degree));
        EXPECT_EQ(map.separation(theta), theta - 1);
        EXPECT_DOUBLE_EQ(map.residual_bound(theta, map.residual_of_F(theta, 1e-3)), 1e-3);
      }
      EXPECT_NEAR(map.y_at(0.3), 2, 1e-14) << "what is damped stands for the end of the interval";
    }
  }
}

TEST(SpectralMap, AnInverseIsOneOverTheDistanceFromSigma) {
  SpectralMap map(Which::smallest);
  map.set_filter({{2, 10}, 8});
  map.set_inverse(-0.5, 100);
  EXPECT_TRUE(map.inverts());
  EXPECT_FALSE(map.filters());
  EXPECT_DOUBLE_EQ(map.theta_of(1.5), 0.5);
  EXPECT_DOUBLE_EQ(map.lambda_at(0.5), 1.5);
  EXPECT_DOUBLE_EQ(map.condition(0.5), 50);
  EXPECT_TRUE(std::isfinite(map.lambda_at(0)));
}

/// For C = diag(spectrum) and a unit vector x that mixes the first eigenvector with all others:
/// ‖C x − λ x‖ and the bound on it from ‖F x − θ x‖, θ the Rayleigh quotient.
void expect_bound(const SpectralMap& map, const std::vector<double>& spectrum, double mixed) {
  const auto weight = [&](std::size_t i) {
    const double rest = mixed / static_cast<double>(spectrum.size() - 1);
    return i == 0 ? 1 - mixed : rest;  // squares of the components of x
  };
  const auto F = [&](double lambda) {
    if (map.inverts()) return 1 / (lambda - map.sigma());
    const auto& y = map.filter()->interval;
    return chebyshev(map.degree(), (y.middle() - map.y_of(lambda)) / y.half_width());
  };
  double theta = 0, residual = 0, truth = 0;
  for (std::size_t i = 0; i < spectrum.size(); ++i) theta += weight(i) * F(spectrum[i]);
  const double lambda = map.lambda_at(theta);
  for (std::size_t i = 0; i < spectrum.size(); ++i) {
    residual += weight(i) * std::pow(F(spectrum[i]) - theta, 2);
    truth += weight(i) * std::pow(spectrum[i] - lambda, 2);
  }
  const double bound = map.residual_bound(theta, std::sqrt(residual));
  EXPECT_LE(std::sqrt(truth), bound * (1 + 1e-12)) << "mixed " << mixed;
  EXPECT_LE(bound, 300 * std::sqrt(truth)) << "mixed " << mixed;  // of some use
}

TEST(SpectralMap, ResidualBoundsHoldForKnownSpectra) {
  const std::vector<double> spectrum = {1, 2.5, 3, 4.5, 6, 8, 9.9};
  SpectralMap filter(Which::smallest), inverse(Which::smallest);
  filter.set_filter({{2, 10}, 6});
  inverse.set_inverse(0.5, 9.5);
  for (const double mixed : {1e-12, 1e-6, 1e-3}) {
    expect_bound(filter, spectrum, mixed);
    expect_bound(inverse, spectrum, mixed);
  }
}

}  // namespace
}  // namespace heddle::detail
