#include "solvers/lanczos/block_lanczos_reference.hpp"

namespace heddle {
namespace {

class BlockLanczosReference : public ::testing::Test {
 protected:
  /// `pencils_only`: without an inverse of B.
  void solve_all(Which which, LanczosFilter filter, bool pencils_only = false) {
    const auto rows = test::references(which);
    if (!rows) GTEST_SKIP() << "no matrix folder with a reference table beside it";
    for (const auto& reference : *rows) {
      if (pencils_only && reference.problem.find(':') == std::string::npos) continue;
      HostContext context;
      test::solve_by_lanczos_and_compare(context, reference, filter, !pencils_only);
    }
  }
};

TEST_F(BlockLanczosReference, EveryValueAtTheSmallestEndIsFound) {
  solve_all(Which::smallest, LanczosFilter::automatic);
}

TEST_F(BlockLanczosReference, PencilsNeedNoInverseOfBAtTheSmallestEnd) {
  solve_all(Which::smallest, LanczosFilter::automatic, true);
}

TEST_F(BlockLanczosReference, EveryValueAtTheLargestEndIsFoundDirectly) {
  solve_all(Which::largest, LanczosFilter::none);
}

/// The Laplacian of a graph in 43 pieces: zero 43 times. Spaces of single vectors see one copy at a
/// time, and the far end in the first cycle only.
TEST(BlockLanczosDisconnectedGraph, ItsManyZerosAreFoundByThinBlocks) {
  if (!test::matrix_dir()) GTEST_SKIP() << "no matrix folder";
  HostContext context;
  test::ReferenceProblem<HostContext> problem(context, "Erdos991@L");
  for (const Index block : {1, 2}) {
    for (const Index nev : {10, 20, 30}) {
      for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 4U, 5U}) {
        SCOPED_TRACE(::testing::Message()
                     << "block " << block << ", nev " << nev << ", seed " << seed);
        BlockLanczosOptions options;
        options.nev = nev;
        options.block_size = block;
        options.seed = seed;
        const auto result = block_lanczos<double, HostContext>(context, {problem.A.get()}, options);
        EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
        for (const double value : result.eigenvalues) EXPECT_NEAR(value, 0, 1e-6);
      }
    }
  }
}

/// Rounding leaves pivots of such a matrix far from zero, so that it can be factored as it is.
TEST(BlockLanczosSingularLaplacian, IsShiftedWhateverItsFactorSays) {
  if (!test::matrix_dir()) GTEST_SKIP() << "no matrix folder";
  HostContext context;
  for (const char* name : {"luxembourg_osm@L", "dwt_992@L", "dwt_2680@L"}) {
    test::ReferenceProblem<HostContext> problem(context, name);
    std::vector<double> values;
    for (const LanczosFilter filter : {LanczosFilter::automatic, LanczosFilter::inverse}) {
      SCOPED_TRACE(name);
      ShiftedInverse<double, HostContext> inverse(problem.A->matrix());
      BlockLanczosOptions options;
      options.nev = 6;
      options.filter = filter;
      const auto result = block_lanczos<double, HostContext>(
          context, {.A = problem.A.get(), .shifted_inverse = &inverse}, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      const double norm = *problem.A->one_norm();
      EXPECT_NEAR(result.eigenvalues[0], 0, 1e-14 * norm);
      EXPECT_GT(result.eigenvalues[1], 1e-8 * norm);
      if (values.empty()) values = result.eigenvalues;
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_NEAR(result.eigenvalues[i], values[i], 1e-8 * values[i] + 1e-13 * norm);
      }
    }
  }
}

}  // namespace
}  // namespace heddle
