#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <drivers/chain.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <stdexcept>
#include <string>
#include <variant>
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

/// Threads of this program that solve on the host in the place of processes.
struct OfThreads : Device {
  explicit OfThreads(int count) : Device(DeviceChoice::host, count, detail::followers(count)) {}
};

/// Where several processes share the rows, they search parts of the interval side by side.
TEST(Slices, SideBySide) {
  const Chain<std::int64_t> chain(600);
  OfThreads device(3);
  const Problem problem{.A = chain.matrix()};
  const Request request{.interval = RealInterval{0.5, 1.5}};
  const SolvePlan planned = plan(device, problem, request);
  EXPECT_EQ(planned.method_reason,
            "an interval is given; factors of A - sigma I that count the pairs are cheap; "
            "processes solve slices side by side, with all rows each");
  const Solution solution = run(device, problem, planned);
  EXPECT_EQ(solution.method, "slices");
  EXPECT_TRUE(solution.completeness.proven);
  EXPECT_FALSE(solution.factor_library.empty());
  EXPECT_LE(static_cast<double>(solution.peak_bytes_most), 1.1 * planned.device_bytes);
  expect_values(solution, chain_between(600, 0.5, 1.5), 1e-11);

  const Problem pencil{.A = chain.matrix(), .B = multiple_of_identity(600, 4)};
  expect_values(solve(device, pencil, {.interval = RealInterval{0.2, 0.3}}),
                chain_between(600, 0.2, 0.3, 4), 1e-11);
  const Solution filtered = solve(
      device, problem, {.interval = RealInterval{0.5, 0.6}, .filter = LanczosFilter::chebyshev});
  EXPECT_EQ(filtered.method, "interval");
  expect_values(filtered, chain_between(600, 0.5, 0.6), 1e-8);
}

/// Some processes then have no part, or none has found a pair.
TEST(Slices, FewPairsAndLimitsOfSeveralProcesses) {
  const Chain<std::int64_t> chain(600);
  OfThreads device(3);
  const Problem problem{.A = chain.matrix()};
  expect_values(solve(device, problem, {.interval = RealInterval{1, 1.02}}),
                chain_between(600, 1, 1.02), 1e-11);
  expect_values(solve(device, problem, {.interval = RealInterval{5, 6}}), {}, 0);
  Request request{.interval = RealInterval{0.5, 1.5}};
  request.time_limit_s = 1e-9;
  const Solution late = solve(device, problem, request);
  EXPECT_EQ(late.status, SolveStatus::time_limit);
  EXPECT_EQ(late.count(), 0);
}

/// Pairs nearest to a number are found by process 0, which has all rows.
TEST(Slices, NearestPairsOfSeveralProcesses) {
  const Chain<std::int64_t> chain(600);
  const Request request{.nev = 7, .sigma = 1.0};
  Device alone(DeviceChoice::host, 1);
  OfThreads device(3);
  for (const Problem& problem : {Problem{.A = chain.matrix()},
                                 Problem{.A = chain.matrix(), .B = multiple_of_identity(600, 2)}}) {
    const Solution one = solve(alone, problem, request);
    const Solution several = solve(device, problem, request);
    EXPECT_EQ(several.method_reason,
              "pairs nearest to sigma are wanted; process 0 solves, with all rows");
    EXPECT_EQ(several.eigenvalues, one.eigenvalues);
    EXPECT_EQ(several.residuals, one.residuals);
    EXPECT_TRUE(several.completeness.proven);
    const auto& X = std::get<Block>(several.vectors);
    const auto& Y = std::get<Block>(one.vectors);
    ASSERT_EQ(X.rows(), Y.rows());
    for (Index i = 0; i < X.rows(); ++i) EXPECT_EQ(X.view()(i, 0), Y.view()(i, 0));
  }
}

/// The others do not wait for a process that has failed.
TEST(Slices, AFailureEndsAllProcesses) {
  const Chain<std::int64_t> chain(600);
  OfThreads device(3);
  const Monitor fails = [](const MonitorState&) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(solve(device, {.A = chain.matrix()}, {.interval = RealInterval{0.5, 1.5}}, fails),
               std::runtime_error);
}

TEST(Slices, OnProcessesFactorsAreInDouble) {
  const Chain<std::int64_t> chain(600);
  OfThreads device(2);
  const Request request{.interval = RealInterval{0.5, 1.5},
                        .filter = LanczosFilter::inverse,
                        .precision = Precision::single};
  try {
    solve(device, {.A = chain.matrix()}, request);
    ADD_FAILURE();
  } catch (const RequestError& error) {
    EXPECT_EQ(std::string(error.what()),
              "precision: factors that count eigenvalues on several processes or GPUs are in "
              "double precision: use double");
  }
}

}  // namespace
}  // namespace heddle
