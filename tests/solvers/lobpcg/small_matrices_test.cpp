#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <vector>

// The search for missed pairs of small matrices, with a factor of all rows.
namespace heddle {
namespace {

/// A chain of springs of 100 that is held at its ends, and beside it two rows with the values
/// `stiffness` and `soft`.
SparseOperator<double, HostContext> chain_and_pair(HostContext& context, double stiffness,
                                                   double soft) {
  constexpr Index kChain = 580;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < kChain; ++i) {
    entries.push_back({i, i, 200});
    if (i > 0) entries.push_back({i, i - 1, -100});
    if (i + 1 < kChain) entries.push_back({i, i + 1, -100});
  }
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) {
      const double sign = i == j ? 1 : -1;
      entries.push_back({kChain + i, kChain + j, (stiffness + sign * soft) / 2});
    }
  }
  return SparseOperator<double, HostContext>(
      context, csr_from_triplets<double>(context, kChain + 2, kChain + 2, entries));
}

/// The soft motion of a pair of rows that are hardly stiffer than a chain is hidden among the many
/// modes of the chain near 0, and a preconditioner that suits the chain finds these in a few steps.
TEST(SmallMatrices, HideNoMotionAmongTheModesOfAChain) {
  HostContext context;
  LobpcgOptions options;
  options.tolerance = 1e-5;
  options.nev = 2;
  options.block_size = 4;
  for (const double k : {1e2, 1e4}) {
    SparseOperator<double, HostContext> A = chain_and_pair(context, k, 1e-7);
    MultigridPreconditioner<double, HostContext> M(context, A.matrix());
    for (options.seed = 1; options.seed <= 5; ++options.seed) {
      const auto result =
          lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
      // This preconditioner hardly improves the motion, so that not all solves converge.
      ASSERT_FALSE(result.eigenvalues.empty()) << result.reason;
      EXPECT_NEAR(result.eigenvalues[0], 1e-7, std::max(result.error_bounds[0], 1e-15 * k)) << k;
    }
  }
}

/// A value of many copies beside another one that is near: none of the former has a gap, and
/// neither random directions nor a narrow block tell them apart in the steps that a loose tolerance
/// leaves.
TEST(SmallMatrices, HideNoCopiesFromANarrowBlock) {
  HostContext context;
  LobpcgOptions options;
  options.tolerance = 1e-4;
  options.nev = 6;
  options.block_size = 3;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < 300; ++i) {
    const double value = i < 8 ? 10 : i < 26 ? 9.986 : 9 * std::cos(static_cast<double>(i));
    entries.push_back({i, i, value});
  }
  for (const double sign : {1.0, -1.0}) {
    for (auto& entry : entries) entry.value *= sign;
    SparseOperator<double, HostContext> A(context,
                                          csr_from_triplets<double>(context, 300, 300, entries));
    options.which = sign > 0 ? Which::largest : Which::smallest;
    for (options.seed = 1; options.seed <= 10; ++options.seed) {
      const auto result = lobpcg<double, HostContext>(context, {&A}, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      EXPECT_EQ(result.completeness.name(), "factor of all rows");
      for (const double value : result.eigenvalues) EXPECT_NEAR(value, sign * 10, 1e-3);
    }
  }
}

}  // namespace
}  // namespace heddle
