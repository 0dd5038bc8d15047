#include <gtest/gtest.h>

#include <heddle/solvers/lanczos/block_lanczos.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using test::DiagonalOperator;

/// Each of n/2 values twice, close together at the upper end.
std::vector<double> pairs_of_values(Index n) {
  std::vector<double> diagonal;
  for (Index i = 0; i < n; ++i) {
    const double x = static_cast<double>(i / 2) / static_cast<double>(n / 2);
    diagonal.push_back(1 - x * x);
  }
  return diagonal;
}

/// Fresh products choose other vectors in the space of a double eigenvalue than the iteration did:
/// of two residuals that pass, one grows beyond the tolerance as the other falls.
TEST(BlockLanczosRefuted, PairsAreIteratedOnUntilTheyPass) {
  HostContext context;
  const std::vector<double> diagonal = pairs_of_values(400);
  DiagonalOperator<double> A(diagonal);
  for (const Index block : {2, 3, 8}) {
    for (const std::uint64_t seed : test::seeds(10)) {
      for (const double tolerance : {1e-5, 1e-7, 1e-9}) {
        SCOPED_TRACE(testing::Message()
                     << "block " << block << ", seed " << seed << ", tolerance " << tolerance);
        BlockLanczosOptions options;
        options.nev = 10;
        options.block_size = block;
        options.seed = seed;
        options.tolerance = tolerance;
        options.which = Which::largest;
        const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
        EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
        for (std::size_t i = 0; i < result.eigenvalues.size(); ++i) {
          EXPECT_NEAR(result.eigenvalues[i], diagonal[i], tolerance);
          EXPECT_LE(result.residuals[i], tolerance);
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle
