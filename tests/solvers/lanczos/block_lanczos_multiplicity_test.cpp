#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <numbers>
#include <random>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace {

/// The adjacency matrix of a cube in ten dimensions: 10 − 2j, (10 over j) times.
std::vector<double> hypercube() {
  std::vector<double> values;
  double copies = 1;
  for (int j = 0; j <= 10; ++j) {
    values.insert(values.end(), static_cast<std::size_t>(std::lround(copies)), 10 - 2 * j);
    copies *= (10.0 - j) / (j + 1);
  }
  return values;
}

/// 1 … 60, each 12 times.
std::vector<double> dozens() {
  std::vector<double> values;
  for (int j = 1; j <= 60; ++j) values.insert(values.end(), 12, j);
  return values;
}

/// Twenty chains of 60 masses.
std::vector<double> chains() {
  std::vector<double> values;
  for (int j = 1; j <= 60; ++j) {
    values.insert(values.end(), 20, 2 - 2 * std::cos(std::numbers::pi * j / 61));
  }
  return values;
}

/// Twenty-four values within 10⁻⁷ of each other at both ends.
std::vector<double> clusters() {
  std::vector<double> values;
  for (int j = 0; j < 24; ++j) {
    values.push_back(-10 + 1e-9 * j);
    values.push_back(10 - 1e-9 * j);
  }
  for (int j = 0; j < 600; ++j) values.push_back(-9 + 0.03 * j);
  return values;
}

/// Values that lie closer together the nearer they are to the ends.
std::vector<double> nested() {
  std::vector<double> values(5, 0.0);
  for (int j = 1; j <= 5; ++j) {
    values.push_back(1e-6 * j);
    values.push_back(1e-3 * j);
  }
  for (int j = 0; j < 285; ++j) values.push_back(1 + 3.5 * j);
  const std::size_t half = values.size();
  for (std::size_t j = 0; j < half; ++j) values.push_back(2000 - values[j]);
  return values;
}

struct Spectrum {
  std::vector<double> (*values)();
  Index most_products;
};

class BlockLanczosMultiplicity : public testing::TestWithParam<Spectrum> {};

/// Copies that the first block did not show come to light after other pairs were locked, or while
/// the last wanted value has more copies than are wanted.
TEST_P(BlockLanczosMultiplicity, EveryBlockSizeFindsEveryCopyInReasonableTime) {
  HostContext context;
  std::vector<double> values = GetParam().values();
  test::DiagonalOperator<double> A(values);
  for (const Which which : {Which::smallest, Which::largest}) {
    std::sort(values.begin(), values.end());
    if (which == Which::largest) std::reverse(values.begin(), values.end());
    for (const Index block : {1, 2, 4, 8, 16}) {
      SCOPED_TRACE(testing::Message()
                   << (which == Which::smallest ? "smallest" : "largest") << ", block " << block);
      BlockLanczosOptions options;
      options.nev = 12;
      options.which = which;
      options.block_size = block;
      const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(result.eigenvalues[i], values[i], 1e-5);
      EXPECT_LE(result.operator_applications, GetParam().most_products);
    }
  }
}

/// A cluster wider than the block, of which `nev` wants a part. Of its eigenvectors, the basis
/// finds combinations, whose values are not the outermost ones.
TEST(BlockLanczosCluster, ThatNevCutsIsBounded) {
  HostContext context;
  std::mt19937_64 random(7);
  const auto between = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  for (int run = 0; run < 60; ++run) {
    const int members = run % 2 == 0 ? 14 : 30;
    const double width = std::pow(10.0, between(-11, -7));
    const double gap = std::pow(10.0, between(-2, 0));
    std::vector<double> values;
    for (int j = 0; j < members; ++j) values.push_back(1 + width * between(0, 1));
    while (values.size() < 400) values.push_back(1 + gap + between(0, 10));
    test::DiagonalOperator<double> A(values);
    std::sort(values.begin(), values.end());
    BlockLanczosOptions options;
    options.nev = 1 + run % (members - 1);
    options.filter = run % 3 == 0 ? LanczosFilter::automatic : LanczosFilter::none;
    options.seed = static_cast<std::uint64_t>(run);
    const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], values[j], result.error_bounds[j])
          << "run " << run << ", " << members << " values within " << width;
      EXPECT_LE(result.error_bounds[j], 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spectra, BlockLanczosMultiplicity,
                         testing::Values(Spectrum{hypercube, 5000}, Spectrum{dozens, 10000},
                                         Spectrum{chains, 40000}, Spectrum{clusters, 40000},
                                         Spectrum{nested, 40000}));

}  // namespace
}  // namespace heddle
