#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;

/// Zero many times, most of the rest near it, and some values far away that the first cycle finds
/// to rounding, so that nothing of them is left for later ones.
std::vector<double> many_zeros() {
  std::vector<double> diagonal(40, 0.0);
  for (int i = 0; i < 440; ++i) diagonal.push_back(0.2 + 20 * std::pow(i / 440.0, 3));
  for (int i = 0; i < 12; ++i) diagonal.push_back(22 + 2 * i);
  return diagonal;
}

TEST(BlockLanczosFarEnd, IsNeverTakenForTheWantedEnd) {
  HostContext context;
  DiagonalOperator<double> A(many_zeros());
  std::vector<double> turned = many_zeros();
  for (double& value : turned) value = -value;
  DiagonalOperator<double> minus_A(turned);
  for (const Index block : {1, 2}) {
    for (const Index nev : {10, 20, 30}) {
      for (const std::uint64_t seed : test::seeds(3)) {
        SCOPED_TRACE(testing::Message()
                     << "block " << block << ", nev " << nev << ", seed " << seed);
        BlockLanczosOptions options;
        options.nev = nev;
        options.block_size = block;
        options.seed = seed;
        const auto smallest = block_lanczos<double, HostContext>(context, {&A}, options);
        ASSERT_EQ(smallest.status, SolveStatus::converged) << smallest.reason;
        for (const double value : smallest.eigenvalues) EXPECT_NEAR(value, 0, 1e-6);
        options.which = Which::largest;
        const auto largest = block_lanczos<double, HostContext>(context, {&minus_A}, options);
        ASSERT_EQ(largest.status, SolveStatus::converged) << largest.reason;
        for (const double value : largest.eigenvalues) EXPECT_NEAR(value, 0, 1e-6);
      }
    }
  }
}

/// The first spaces lie in that of the guess and do not see the upper half of the spectrum, on
/// which a polynomial for the rest grows fast.
TEST(BlockLanczosFarEnd, MissedByAGuessItComesToLightInTheEnd) {
  HostContext context;
  const Index n = test::kSanitized ? 300 : 600;
  MultiVector<double, HostSpace> guess(context, n, 4);
  fill_random<double>(context, 1, 0, guess.view());
  for (Index i = n / 2; i < n; ++i) {
    for (Index j = 0; j < guess.cols(); ++j) guess.view()(i, j) = 0;
  }
  DiagonalOperator<double> unbounded(counting(n));
  HostCsrMatrix<double> matrix(context, n, n, n);
  for (Index i = 0; i <= n; ++i) matrix.row_offsets()[i] = i;
  for (Index i = 0; i < n; ++i) {
    matrix.columns()[i] = static_cast<std::int32_t>(i);
    matrix.values()[i] = static_cast<double>(i + 1);
  }
  SparseOperator<double, HostContext> bounded(context, std::move(matrix));
  for (LinearOperator<double, HostContext>* A :
       std::initializer_list<LinearOperator<double, HostContext>*>{&unbounded, &bounded}) {
    SCOPED_TRACE(A->one_norm() ? "with a norm" : "without a norm");
    EigenProblem<double, HostContext> problem{A};
    problem.initial_guess = guess.view();
    BlockLanczosOptions options;
    options.nev = 6;
    options.block_size = 4;
    const auto result = block_lanczos<double, HostContext>(context, problem, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(result.eigenvalues[i], static_cast<double>(i + 1), 1e-5);
    }
  }
}

}  // namespace
}  // namespace heddle
