#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solvers/linear_test_support.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::make_operator;
using test::random_vectors;

/// Digits of solutions, and what is said where there are none, of both algorithms.
class BlockCgDigits : public ::testing::TestWithParam<CgAlgorithm> {
 protected:
  LinearResult<double, HostSpace> solve(const LinearSystem<double, HostContext>& system) {
    options_.algorithm = GetParam();
    return block_cg<double, HostContext>(context_, system, options_);
  }

  HostContext context_;
  BlockCgOptions options_;
};

/// Errors in the energy norm are known for a diagonal matrix.
TEST_P(BlockCgDigits, ErrorEstimatesAreNearTheErrors) {
  for (const double condition : {1e2, 1e4}) {
    std::vector<double> diagonal(500);
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      diagonal[i] = std::pow(condition, static_cast<double>(i) / 499);
    }
    DiagonalOperator<double> A(diagonal);
    const auto B = random_vectors<double>(context_, 500, 3);
    for (const double tolerance : {1e-3, 1e-8}) {
      options_.tolerance = tolerance;
      const auto result = solve({&A, nullptr, B.view()});
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      for (Index j = 0; j < 3; ++j) {
        double error = 0, size = 0;
        for (Index i = 0; i < 500; ++i) {
          const double a = diagonal[static_cast<std::size_t>(i)];
          const double x = B.view()(i, j) / a;
          error += a * std::pow(result.solution.view()(i, j) - x, 2);
          size += a * x * x;
        }
        const double exact = std::sqrt(error / size);
        const double estimate = result.error_estimates[static_cast<std::size_t>(j)];
        EXPECT_LE(estimate, 10 * exact) << condition << ", " << tolerance;
        EXPECT_GE(estimate, exact / 10) << condition << ", " << tolerance;
      }
    }
  }
}

TEST_P(BlockCgDigits, NoStepsLeaveNoEstimate) {
  auto A = make_operator<double>(context_, {"laplace2d", {10, 11}});
  auto B = random_vectors<double>(context_, A.rows(), 2);
  set_zero<double>(context_, B.view().columns(1, 1));
  options_.max_iterations = 0;
  const auto result = solve({&A, nullptr, std::as_const(B).view()});
  EXPECT_TRUE(std::isnan(result.error_estimates[0]));
  EXPECT_EQ(result.error_estimates[1], 0);
}

TEST_P(BlockCgDigits, ANegativeDefiniteMatrixIsNamed) {
  std::vector<double> diagonal = counting(200, 1);
  for (double& value : diagonal) value = -value;
  DiagonalOperator<double> A(diagonal);
  const auto B = random_vectors<double>(context_, 200, 2);
  auto result = solve({&A, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::indefinite);
  EXPECT_NE(result.reason.find("(-A) X = -B"), std::string::npos) << result.reason;
  diagonal[7] = 1e4;
  DiagonalOperator<double> indefinite(diagonal);
  result = solve({&indefinite, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::indefinite);
}

/// The second entry of x is 10⁻³³⁰, which is no number, and x₂ = 0 leaves a residual of ‖b‖/√2.
TEST_P(BlockCgDigits, AnEntryThatUnderflowsIsNotConverged) {
  DiagonalOperator<double> A({1, 1e30});
  MultiVector<double, HostSpace> B(context_, 2, 1);
  B.view()(0, 0) = B.view()(1, 0) = 1e-300;
  DiagonalOperator<double> inverse({1, 1e-30});
  const auto result = solve({&A, &inverse, std::as_const(B).view()});
  EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
  EXPECT_NE(result.reason.find("underflows"), std::string::npos) << result.reason;
  EXPECT_NEAR(result.residuals[0], std::sqrt(.5), 1e-9);
  EXPECT_FALSE(result.converged[0]);
}

/// Such an entry does not matter here: b₂/a₂₂ is far below the tolerance.
TEST_P(BlockCgDigits, AnEntryThatUnderflowsMayBeNothing) {
  DiagonalOperator<double> A({1, 3});
  MultiVector<double, HostSpace> B(context_, 2, 1);
  B.view()(0, 0) = 1e-290;
  B.view()(1, 0) = 1e-310;
  const auto result = solve({&A, nullptr, std::as_const(B).view()});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_NEAR(result.solution.view()(0, 0), 1e-290, 1e-298);
}

TEST_P(BlockCgDigits, HugeGuessesAndRightHandSides) {
  constexpr Index kOrder = 40;
  auto A = make_operator<double>(context_, {"laplace1d", {kOrder}});
  const double huge = 1.7e308;
  for (const double size : {1e-300, 1.0, 1e300}) {
    for (const double guess_size : {1e10, 1e200, 1e300, huge}) {
      MultiVector<double, HostSpace> B(context_, kOrder, 2), guess(context_, kOrder, 2);
      for (Index i = 0; i < kOrder; ++i) {
        B.view()(i, 0) = size;
        B.view()(i, 1) = size;
        guess.view()(i, 0) = i % 2 == 0 ? guess_size : -guess_size;
        guess.view()(i, 1) = 0;
      }
      const auto result =
          solve({&A, nullptr, std::as_const(B).view(), std::as_const(guess).view()});
      ASSERT_EQ(result.status, SolveStatus::converged)
          << size << ", " << guess_size << ": " << result.reason;
      for (Index j = 0; j < 2; ++j) {
        for (Index i = 0; i < kOrder; ++i) {
          const auto left = static_cast<double>(i + 1), right = static_cast<double>(kOrder - i);
          EXPECT_NEAR(result.solution.view()(i, j) / size, left * right / 2, 1e-4);
        }
      }
    }
  }
}

/// The guess is useless, and nothing better is found: x = 0.
TEST_P(BlockCgDigits, NothingThatIsNoNumberIsReturned) {
  auto A = make_operator<double>(context_, {"laplace1d", {40}});
  MultiVector<double, HostSpace> B(context_, 40, 1), guess(context_, 40, 1);
  for (Index i = 0; i < 40; ++i) {
    B.view()(i, 0) = 1e306;  // x reaches 2·10³⁰⁸
    guess.view()(i, 0) = i % 2 == 0 ? 1e308 : -1e308;
  }
  options_.max_iterations = 30;
  const auto result = solve({&A, nullptr, std::as_const(B).view(), std::as_const(guess).view()});
  EXPECT_NE(result.status, SolveStatus::converged);
  for (Index i = 0; i < 40; ++i) EXPECT_TRUE(std::isfinite(result.solution.view()(i, 0)));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, BlockCgDigits,
                         ::testing::Values(CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block));

}  // namespace
}  // namespace heddle
