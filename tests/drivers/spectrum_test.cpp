#include <gtest/gtest.h>

#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace heddle {
namespace {

constexpr Index kOrder = 400;

Matrix chain() { return Matrix::generate({.name = "laplace1d", .size = {kOrder}}); }

TEST(DriversSpectrum, CountsTheEigenvaluesOfAStoredMatrix) {
  Device device(DeviceChoice::host, 1);
  const SpectralDensity density = spectral_density(device, chain());
  const double smallest = laplace_smallest_eigenvalues({kOrder}, 1).front();
  const double largest = laplace_largest_eigenvalues({kOrder}, 1).front();
  EXPECT_LE(density.lower(), smallest);
  EXPECT_GE(density.upper(), largest);
  // λ = 4 sin²(π j / (2 (n + 1))) is below 2 for half of all j.
  const EigenvalueCount lower_half = density.count(density.lower(), 2);
  EXPECT_NEAR(lower_half.count, kOrder / 2.0, 5 * lower_half.deviation + 3);
}

TEST(DriversSpectrum, ACallableGivesTheCountsOfTheMatrix) {
  Device device(DeviceChoice::host, 1);
  const Matrix A = chain();
  const Matrix function(kOrder, kOrder, [](auto X, auto Y) {
    for (Index i = 0; i < kOrder; ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        Y(i, j) = 2 * X(i, j) - (i > 0 ? X(i - 1, j) : 0) - (i + 1 < kOrder ? X(i + 1, j) : 0);
      }
    }
  });
  const double stored = spectral_density(device, A).count(0, 1).count;
  EXPECT_NEAR(spectral_density(device, function).count(0, 1).count, stored, 1e-6 * kOrder);
}

TEST(DriversSpectrum, RefusesWhatHasNoRealSpectrum) {
  Device device(DeviceChoice::host, 1);
  EXPECT_THROW(std::ignore = spectral_density(device, Matrix{}), ProblemError);
  const std::vector<std::int64_t> offsets = {0, 1, 1};
  const std::vector<std::int32_t> columns = {1};
  const std::vector<double> values = {1};
  try {
    std::ignore = spectral_density(device, Matrix(2, 2, offsets, columns, values));
    FAIL();
  } catch (const ProblemError& error) {
    EXPECT_EQ(error.part(), ProblemPart::matrix);
    EXPECT_NE(std::string(error.what()).find("symmetric"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace heddle
