#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <drivers/chain.hpp>
#include <heddle/drivers/solve.hpp>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::Chain;
using test::chain_eigenvalue;

/// The eigenvalues of a chain of n in [a, b], divided by `mass`.
std::vector<double> chain_between(Index n, double a, double b, double mass = 1) {
  std::vector<double> values;
  for (Index j = 1; j <= n; ++j) values.push_back(chain_eigenvalue(n, j) / mass);
  std::erase_if(values, [&](double value) { return value < a || value > b; });
  std::sort(values.begin(), values.end());
  return values;
}

Matrix multiple_of_identity(Index n, double value) {
  return test::diagonal(std::vector<double>(static_cast<std::size_t>(n), value));
}

void expect_values(const Solution& solution, const std::vector<double>& exact, double tolerance) {
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  ASSERT_EQ(solution.eigenvalues.size(), exact.size());
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NEAR(solution.eigenvalues[j], exact[j], tolerance);
  }
}

std::string refusal(const Problem& problem, const Request& request) {
  try {
    solve(problem, request);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Without nev, as many pairs as there are.
TEST(Slices, OfAnIntervalAllPairsAreFoundAndProven) {
  const Chain<std::int64_t> chain(600);
  const Solution solution = solve({.A = chain.matrix()}, {.interval = RealInterval{0.5, 1.5}});
  EXPECT_EQ(solution.method, "slices");
  EXPECT_EQ(solution.method_reason,
            "an interval is given; factors of A - sigma I that count the pairs are cheap");
  EXPECT_EQ(solution.completeness.method, CompletenessMethod::inertia);
  EXPECT_TRUE(solution.completeness.proven);
  EXPECT_FALSE(solution.factor_library.empty());
  expect_values(solution, chain_between(600, 0.5, 1.5), 1e-11);
}

TEST(Slices, OfAPencil) {
  const Chain<std::int64_t> chain(600);
  const Problem problem{.A = chain.matrix(), .B = multiple_of_identity(600, 4)};
  for (const Method method : {Method::automatic, Method::block_lanczos}) {
    const Solution solution =
        solve(problem, {.method = method, .interval = RealInterval{0.2, 0.3}});
    EXPECT_EQ(solution.method, "slices");
    EXPECT_TRUE(solution.completeness.proven);
    expect_values(solution, chain_between(600, 0.2, 0.3, 4), 1e-11);
  }
}

/// The ends are scaled with a matrix whose entries are near the end of the range of numbers, and
/// with its mass.
TEST(Slices, TheEndsAreScaledWithTheProblem) {
  constexpr double kFactor = 0x1p-600;
  Chain<std::int64_t> chain(400);
  for (double& value : chain.values) value *= kFactor;
  const double mass = 0x1p400;
  const Solution solution =
      solve({.A = chain.matrix(), .B = multiple_of_identity(400, mass)},
            {.interval = RealInterval{3.1 * kFactor / mass, 3.3 * kFactor / mass}});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  const std::vector<double> exact = chain_between(400, 3.1, 3.3);
  ASSERT_EQ(solution.eigenvalues.size(), exact.size());
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NEAR(solution.eigenvalues[j] / kFactor * mass, exact[j], 1e-9);
  }
}

TEST(Slices, APolynomialFilterIsTakenWhereItIsAskedFor) {
  const Chain<std::int64_t> chain(600);
  const Solution solution = solve({.A = chain.matrix()}, {.interval = RealInterval{0.5, 0.6},
                                                          .filter = LanczosFilter::chebyshev});
  EXPECT_EQ(solution.method, "interval");
  EXPECT_FALSE(solution.completeness.proven);
  expect_values(solution, chain_between(600, 0.5, 0.6), 1e-8);
}

TEST(Slices, MoreThanNevAreCounted) {
  const Chain<std::int64_t> chain(600);
  const auto exact = chain_between(600, 0.5, 1.5);
  const Solution solution =
      solve({.A = chain.matrix()}, {.nev = 3, .interval = RealInterval{0.5, 1.5}});
  EXPECT_EQ(solution.status, SolveStatus::max_iterations);
  EXPECT_NE(solution.reason.find("holds " + std::to_string(exact.size()) + " eigenvalues"),
            std::string::npos)
      << solution.reason;
}

TEST(Slices, OfACallableThereAreNone) {
  const Matrix A(300, 300, [](auto, auto) {});
  const Request request{.interval = RealInterval{0, 1}, .filter = LanczosFilter::inverse};
  EXPECT_EQ(refusal({.A = A}, request), "interval: A - sigma B must be factored, A is a callable");
}

}  // namespace
}  // namespace heddle
