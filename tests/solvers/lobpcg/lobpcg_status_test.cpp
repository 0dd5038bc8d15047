#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <limits>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::make_operator;

LobpcgOptions options_for(Index nev) {
  LobpcgOptions options;
  options.nev = nev;
  return options;
}

TEST(LobpcgStatus, IterationLimitKeepsTheBestPairs) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {40, 41}});
  LobpcgOptions options = options_for(4);
  options.max_iterations = 3;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_EQ(result.iterations, 3);
  ASSERT_EQ(result.eigenvalues.size(), 4u);
  EXPECT_EQ(result.history.size(), 4u);
  const auto expected = laplace_smallest_eigenvalues({40, 41}, 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GE(result.eigenvalues[i], expected[i]);
}

TEST(LobpcgStatus, TimeLimitEndsASolve) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {40, 41}});
  LobpcgOptions options = options_for(4);
  options.time_limit_s = 0;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::time_limit);
  EXPECT_EQ(result.eigenvalues.size(), 4u);
}

TEST(LobpcgStatus, MonitorSeesEveryIterationAndCanStop) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {40, 41}});
  Index calls = 0;
  const auto result =
      lobpcg<double, HostContext>(context, {&A}, options_for(4), [&](const MonitorState& state) {
        EXPECT_EQ(state.record.iteration, calls);
        EXPECT_EQ(state.nev, 4);
        EXPECT_EQ(state.eigenvalues.size(), 4u);
        EXPECT_EQ(state.residuals.size(), 4u);
        return ++calls < 6;
      });
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(result.status, SolveStatus::interrupted);
  EXPECT_EQ(result.iterations, 5);
  EXPECT_EQ(result.eigenvalues.size(), 4u);
}

TEST(LobpcgStatus, AToleranceBelowRoundingStagnates) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  LobpcgOptions options = options_for(4);
  options.tolerance = 1e-18;
  options.max_iterations = 5000;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  EXPECT_LT(result.iterations, 1000);
  for (const double residual : result.residuals) EXPECT_LE(residual, 1e-13);
}

TEST(LobpcgStatus, IndefiniteBIsFound) {
  HostContext context;
  DiagonalOperator<double> A(counting(400));
  std::vector<double> diagonal(400, 1.0);
  for (std::size_t i = 0; i < diagonal.size(); i += 2) diagonal[i] = -1;
  DiagonalOperator<double> B(diagonal);
  const auto result = lobpcg<double, HostContext>(context, {&A, &B}, options_for(4));
  EXPECT_EQ(result.status, SolveStatus::indefinite) << result.reason;
}

TEST(LobpcgStatus, AZeroBIsNotPositiveDefinite) {
  HostContext context;
  DiagonalOperator<double> A(counting(400));
  DiagonalOperator<double> B(std::vector<double>(400, 0.0));
  const auto result = lobpcg<double, HostContext>(context, {&A, &B}, options_for(4));
  EXPECT_EQ(result.status, SolveStatus::indefinite) << result.reason;
}

TEST(LobpcgStatus, OneNegativeDirectionOfBIsFoundOnTheWay) {
  HostContext context;
  DiagonalOperator<double> A(counting(400));
  std::vector<double> diagonal(400, 1.0);
  diagonal[123] = -1;
  DiagonalOperator<double> B(diagonal);
  const auto result = lobpcg<double, HostContext>(context, {&A, &B}, options_for(4));
  EXPECT_NE(result.status, SolveStatus::converged) << result.reason;
}

TEST(LobpcgStatus, NumbersThatAreNotFiniteBreakDown) {
  HostContext context;
  const double kNaN = std::numeric_limits<double>::quiet_NaN();
  int calls = 0;
  test::FunctionOperator A(400, [&](auto X, auto Y) {
    ++calls;
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        Y(i, j) = calls > 3 && i == 7 ? kNaN : static_cast<double>(i + 1) * X(i, j);
      }
    }
  });
  const auto late = lobpcg<double, HostContext>(context, {&A}, options_for(4));
  EXPECT_EQ(late.status, SolveStatus::breakdown) << late.reason;
  calls = 100;
  const auto at_once = lobpcg<double, HostContext>(context, {&A}, options_for(4));
  EXPECT_EQ(at_once.status, SolveStatus::breakdown) << at_once.reason;
  EXPECT_TRUE(at_once.eigenvalues.empty());
}

TEST(LobpcgStatus, AnInitialGuessThatIsNotFinite) {
  HostContext context;
  DiagonalOperator<double> A(counting(400));
  MultiVector<double, HostSpace> guess(context, 400, 1);
  set_zero(context, guess.view());
  guess.view()(3, 0) = std::numeric_limits<double>::quiet_NaN();
  EigenProblem<double, HostContext> problem{&A};
  problem.initial_guess = guess.view();
  const auto result = lobpcg<double, HostContext>(context, problem, options_for(4));
  EXPECT_EQ(result.status, SolveStatus::breakdown);
  EXPECT_EQ(result.reason.rfind("start vectors, or products", 0), 0u) << result.reason;
}

TEST(LobpcgStatus, ProductsThatDoNotConfirmFailVerification) {
  HostContext context;
  // The iteration multiplies more columns than the four wanted ones, verification just these.
  test::FunctionOperator A(400, [](auto X, auto Y) {
    const double lie = X.cols() == 4 ? 1e-4 : 0;
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        Y(i, j) = static_cast<double>(i + 1) * X(i, j) + lie * X(X.rows() - 1 - i, j);
      }
    }
  });
  LobpcgOptions options = options_for(4);
  options.tolerance = 1e-10;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::verification_failed) << result.reason;
  EXPECT_EQ(result.eigenvalues.size(), 4u);
}

TEST(LobpcgStatus, MisuseThrowsAndNamesBothSides) {
  HostContext context;
  DiagonalOperator<double> A(counting(400));
  DiagonalOperator<double> small(counting(40));
  const auto message = [&](const EigenProblem<double, HostContext>& problem,
                           const LobpcgOptions& options) -> std::string {
    try {
      lobpcg<double, HostContext>(context, problem, options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({}, options_for(4)).find("no A"), std::string::npos);
  EXPECT_NE(message({&A, &small}, options_for(4)).find("40x40"), std::string::npos);
  EXPECT_NE(message({&A}, options_for(401)).find("n - constraints = 400, it is 401"),
            std::string::npos);
  EXPECT_NE(message({&A}, options_for(0)).find("nev"), std::string::npos);
  LobpcgOptions options = options_for(4);
  options.tolerance = 2;
  EXPECT_NE(message({&A}, options).find("tolerance"), std::string::npos);
  options = options_for(4);
  options.time_limit_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message({&A}, options).find("time limit"), std::string::npos);
  options = options_for(4);
  options.max_iterations = -1;
  EXPECT_NE(message({&A}, options).find("max_iterations"), std::string::npos);
  MultiVector<double, HostSpace> wrong(context, 17, 2);
  EigenProblem<double, HostContext> problem{&A};
  problem.constraints = wrong.view();
  EXPECT_NE(message(problem, options_for(4)).find("17"), std::string::npos);
}

bool same_bits(const EigenResult<double, HostSpace>& a, const EigenResult<double, HostSpace>& b) {
  if (a.eigenvalues != b.eigenvalues || a.residuals != b.residuals ||
      a.iterations != b.iterations) {
    return false;
  }
  for (Index i = 0; i < a.eigenvectors.rows(); ++i) {
    const auto row_a = a.eigenvectors.view();
    const auto row_b = b.eigenvectors.view();
    if (std::memcmp(&row_a(i, 0), &row_b(i, 0),
                    sizeof(double) * static_cast<std::size_t>(row_a.cols())) != 0) {
      return false;
    }
  }
  return true;
}

TEST(LobpcgStatus, SameSeedGivesTheSameBitsForEveryThreadCount) {
  HostContext one(1), two(2), three(3);
  const LobpcgOptions options = options_for(6);
  auto A1 = make_operator<double>(one, {"laplace3d", {14, 15, 16}});
  auto A2 = make_operator<double>(two, {"laplace3d", {14, 15, 16}});
  auto A3 = make_operator<double>(three, {"laplace3d", {14, 15, 16}});
  const auto first = lobpcg<double, HostContext>(one, {&A1}, options);
  const auto again = lobpcg<double, HostContext>(one, {&A1}, options);
  const auto on_two = lobpcg<double, HostContext>(two, {&A2}, options);
  const auto on_three = lobpcg<double, HostContext>(three, {&A3}, options);
  ASSERT_EQ(first.status, SolveStatus::converged) << first.reason;
  EXPECT_TRUE(same_bits(first, again));
  EXPECT_TRUE(same_bits(first, on_two));
  EXPECT_TRUE(same_bits(first, on_three));
  LobpcgOptions other = options;
  other.seed = 43;
  EXPECT_FALSE(same_bits(first, lobpcg<double, HostContext>(one, {&A1}, other)));
}

}  // namespace
}  // namespace heddle
