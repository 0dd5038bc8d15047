#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <drivers/chain.hpp>
#include <drivers/refusal.hpp>
#include <drivers/springs.hpp>
#include <heddle/drivers/problem/request_values.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::Chain;
using test::chain_eigenvalue;
using test::refusal;
using test::Springs;

/// The `count` eigenvalues of a chain of n that are nearest to sigma, ascending.
std::vector<double> nearest_of_chain(Index n, double sigma, Index count) {
  std::vector<double> values;
  for (Index j = 1; j <= n; ++j) values.push_back(chain_eigenvalue(n, j));
  std::sort(values.begin(), values.end(),
            [&](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
  values.resize(static_cast<std::size_t>(count));
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Nearest, PairsInsideTheSpectrumAreFoundAndProven) {
  const Chain<std::int64_t> chain(500);
  const Request request{.nev = 6, .sigma = 1.2345};
  const Solution solution = solve({.A = chain.matrix()}, request);
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_EQ(solution.method, "nearest");
  EXPECT_EQ(solution.method_reason, "pairs nearest to sigma are wanted");
  EXPECT_EQ(solution.completeness.method, CompletenessMethod::inertia);
  EXPECT_TRUE(solution.completeness.proven);
  EXPECT_FALSE(solution.factor_library.empty());
  const std::vector<double> exact = nearest_of_chain(500, 1.2345, 6);
  ASSERT_EQ(solution.eigenvalues.size(), exact.size());
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NEAR(solution.eigenvalues[j], exact[j], 1e-12);
    EXPECT_LE(std::abs(solution.eigenvalues[j] - exact[j]), solution.error_bounds[j]);
  }
}

/// σ is scaled with a matrix whose entries are near the end of the range of numbers, and with its
/// mass.
TEST(Nearest, SigmaIsScaledWithTheProblem) {
  constexpr double kFactor = 0x1p-600;
  Chain<std::int64_t> chain(400);
  for (double& value : chain.values) value *= kFactor;
  const std::vector<double> exact = nearest_of_chain(400, 3.1, 4);
  for (const double mass : {1.0, 0x1p400}) {
    std::vector<std::int64_t> offsets(401);
    std::vector<std::int32_t> columns(400);
    std::iota(offsets.begin(), offsets.end(), 0);
    std::iota(columns.begin(), columns.end(), 0);
    const std::vector<double> values(400, mass);
    const Solution solution =
        solve({.A = chain.matrix(), .B = Matrix(400, 400, offsets, columns, values)},
              {.nev = 4, .sigma = 3.1 * kFactor / mass});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    ASSERT_EQ(solution.eigenvalues.size(), exact.size());
    for (std::size_t j = 0; j < exact.size(); ++j) {
      EXPECT_NEAR(solution.eigenvalues[j] / kFactor * mass, exact[j], 1e-9);
    }
  }
}

/// A unit vector as a constraint cuts a chain into two. Chains of equal length have double values.
TEST(Nearest, OnVectorsOfConstraints) {
  constexpr Index kOrder = 401;
  const Chain<std::int64_t> chain(kOrder);
  for (const Index row : {130, 200}) {
    std::vector<double> unit(kOrder);
    unit[static_cast<std::size_t>(row)] = 1;
    std::vector<double> exact;
    for (const Index part : {row, kOrder - 1 - row}) {
      for (Index j = 1; j <= part; ++j) exact.push_back(chain_eigenvalue(part, j));
    }
    for (const double sigma : {0.0, 1.2345, 4.5}) {
      std::sort(exact.begin(), exact.end(),
                [&](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
      std::vector<double> wanted(exact.begin(), exact.begin() + 6);
      std::sort(wanted.begin(), wanted.end());
      for (const Precision precision : {Precision::full, Precision::single}) {
        const Solution solution =
            solve({.A = chain.matrix(), .constraints = Block(kOrder, 1, unit)},
                  {.nev = 6, .sigma = sigma, .precision = precision});
        ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
        EXPECT_TRUE(solution.completeness.proven) << solution.reason;
        ASSERT_EQ(solution.eigenvalues.size(), wanted.size());
        const double rounding = precision == Precision::single ? 1e-5 : 1e-12;
        for (std::size_t j = 0; j < wanted.size(); ++j) {
          EXPECT_NEAR(solution.eigenvalues[j], wanted[j], rounding) << sigma << solution.reason;
        }
      }
    }
  }
}

/// Columns that nearly depend on each other, and the values on the vectors that the exact columns
/// leave, in long double, with a mass.
TEST(Nearest, OnVectorsOfNearlyDependentConstraints) {
  using Exact = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  constexpr Index n = 120;
  const Chain<std::int64_t> chain(n);
  std::vector<Triplet<double>> masses;
  Exact M = Exact::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    masses.push_back({i, i, 1 + static_cast<double>(i % 3) / 2});
    M(i, i) = masses.back().value;
  }
  HostContext context;
  std::srand(11);
  const Eigen::MatrixXd random = Eigen::MatrixXd::Random(n, 2);
  for (const double apart : {1e-3, 1e-6, 1e-9, 1e-11}) {
    Eigen::MatrixXd columns = random;
    columns.col(1) = random.col(0) + apart * random.col(1);
    Exact exact = columns.cast<long double>();
    exact.col(1) = (exact.col(1) - exact.col(0)) / static_cast<long double>(apart);
    const Exact Q = Eigen::HouseholderQR<Exact>(M * exact).householderQ();
    const Exact rest = Q.rightCols(n - 2);
    Exact A = 2 * Exact::Identity(n, n);
    for (Index i = 0; i + 1 < n; ++i) A(i, i + 1) = A(i + 1, i) = -1;
    const auto truth = Eigen::GeneralizedSelfAdjointEigenSolver<Exact>(rest.transpose() * A * rest,
                                                                       rest.transpose() * M * rest)
                           .eigenvalues();
    std::vector<double> rows;
    for (Index i = 0; i < n; ++i) rows.insert(rows.end(), {columns(i, 0), columns(i, 1)});
    for (const bool near : {true, false}) {
      Request request{.nev = 4, .tolerance = 1e-10};
      if (near) request.sigma = 0.0;
      if (!near) request.method = Method::lobpcg;
      const Solution solution =
          solve({.A = chain.matrix(),
                 .B = Matrix(csr_from_triplets<double>(context, n, n, masses)),
                 .constraints = Block(n, 2, rows)},
                request);
      ASSERT_EQ(solution.status, SolveStatus::converged) << apart << ' ' << solution.reason;
      for (std::size_t j = 0; j < 4; ++j) {
        const auto value = static_cast<double>(truth[static_cast<Index>(j)]);
        EXPECT_NEAR(solution.eigenvalues[j], value, solution.error_bounds[j] + 1e-14)
            << apart << ' ' << near;
      }
    }
  }
}

/// Values that are smaller than the rounding of stiff rows in single precision.
TEST(Nearest, SinglePrecisionWithoutADigitIsNotConverged) {
  HostContext context;
  const Index n = 300;
  Springs springs{std::vector<double>(static_cast<std::size_t>(n - 1), 1.0), {{0, 1.0}}};
  springs.ground[n / 3] = 0x1p24;
  Problem problem = springs.problem(context);
  std::vector<double> at_rest(static_cast<std::size_t>(n));
  at_rest[static_cast<std::size_t>(n / 3)] = 1;
  at_rest[static_cast<std::size_t>(n / 3) + 1] = -1;  // moves with the held unknown
  problem.constraints = Block(n, 1, at_rest);
  const Solution single = solve(problem, {.nev = 2, .sigma = 1e-3, .precision = Precision::single});
  EXPECT_EQ(single.status, SolveStatus::stagnated) << single.reason;
  EXPECT_NE(single.reason.find("single precision gives no digit of it"), std::string::npos)
      << single.reason;
  const Solution twice = solve(problem, {.nev = 2, .sigma = 1e-3});
  EXPECT_EQ(twice.status, SolveStatus::converged) << twice.reason;
}

/// Distances from σ of which single precision has no digits, of values on a diagonal in any order,
/// between σ and one beyond it. Double precision finds the nearest ones.
TEST(Nearest, DistancesThatSinglePrecisionDoesNotResolve) {
  constexpr Index kValues = 40;
  HostContext context;
  for (const double sigma : {1e10, -1e10, 1e8, 1e5}) {
    std::vector<Triplet<double>> entries;
    std::vector<double> exact;
    for (Index i = 0; i < kValues; ++i) {
      const double value = 1 + static_cast<double>(17 * i % kValues) / 64;
      entries.push_back({i, i, value});
      exact.push_back(value);
    }
    entries.push_back({kValues, kValues, std::copysign(0x1p45, sigma)});
    std::sort(exact.begin(), exact.end(),
              [&](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
    exact.resize(3);
    std::sort(exact.begin(), exact.end());
    Problem problem;
    problem.A = Matrix(csr_from_triplets<double>(context, kValues + 1, kValues + 1, entries));
    for (const Precision precision : {Precision::full, Precision::single}) {
      const Solution solution = solve(problem, {.nev = 3, .sigma = sigma, .precision = precision});
      const bool found = solution.status == SolveStatus::converged;
      EXPECT_TRUE(found || precision == Precision::single) << solution.reason;
      if (!found) {
        EXPECT_EQ(solution.status, SolveStatus::stagnated) << solution.reason;
        EXPECT_NE(solution.reason.find("double precision may"), std::string::npos)
            << solution.reason;
        continue;
      }
      ASSERT_EQ(solution.eigenvalues.size(), exact.size());
      for (std::size_t j = 0; j < exact.size(); ++j) {
        EXPECT_NEAR(solution.eigenvalues[j], exact[j], 1e-5) << sigma << ' ' << solution.reason;
      }
    }
  }
}

TEST(Nearest, WhatDoesNotGoWithSigmaIsRefused) {
  const Chain<std::int64_t> chain(300);
  const Matrix A = chain.matrix();
  const std::vector<double> ones(300, 1);
  EXPECT_EQ(refusal({.A = A}, {.nev = 3, .which = Which::largest, .sigma = 1.0}),
            "which does not go with sigma");
  EXPECT_EQ(refusal({.A = A}, {.nev = 3, .sigma = 1.0, .filter = LanczosFilter::inverse}),
            "filter does not go with sigma");
  EXPECT_EQ(refusal({.A = A}, {.nev = 3, .sigma = 1.0, .precision = Precision::mixed}),
            "precision: mixed does not go with sigma");
  EXPECT_EQ(refusal({.A = A}, {.nev = 3, .sigma = 1.0, .checkpoint = {.file = "state"}}),
            "checkpoint.file does not go with sigma");
  EXPECT_EQ(refusal({.A = A, .initial_guess = Block(300, 1, ones)}, {.nev = 3, .sigma = 1.0}),
            "initial_guess: does not go with sigma");
  EXPECT_EQ(refusal({.A = A}, {.nev = 3, .interval = RealInterval{0, 1}, .sigma = 1.0}),
            "sigma does not go with interval");
  EXPECT_EQ(refusal({.A = A}, {.nev = 3, .side = Side::above}), "side needs sigma");
  EXPECT_NE(refusal({.A = A}, {.method = Method::lobpcg, .nev = 3, .sigma = 1.0}).find("sigma"),
            std::string::npos);
  EXPECT_NE(refusal({.A = A}, {.nev = 3, .sigma = std::nan("")}).find("sigma is nan"),
            std::string::npos);
}

/// The numbers of the three eigenvalues of `springs` nearest to sigma, ascending.
std::vector<long double> three_nearest(const Springs& springs, double sigma) {
  const Index below = springs.below(sigma);
  std::vector<long double> values;
  for (Index j = std::max<Index>(0, below - 3); j < std::min(springs.order(), below + 3); ++j) {
    values.push_back(springs.eigenvalue(j));
  }
  std::sort(values.begin(), values.end(), [&](long double a, long double b) {
    return std::abs(a - sigma) < std::abs(b - sigma);
  });
  values.resize(3);
  std::sort(values.begin(), values.end());
  return values;
}

/// Stiff springs to the ground leave all digits inside the spectrum, too. Those between two
/// unknowns may not: a value without digits is then not called converged.
TEST(Nearest, StiffSpringsLeaveDigitsOrSayThatTheyDoNot) {
  HostContext context;
  constexpr double kRoundingOfTruth = 1e-7;  // of Sturm counts next to the stiffest spring
  for (const Index n : {120, 319, 700}) {
    for (const double stiff : {0x1p23, 0x1p33, 0x1p46}) {
      for (const bool between : {false, true}) {
        Springs springs{std::vector<double>(static_cast<std::size_t>(n - 1), 1.0), {{0, 1.0}}};
        if (between) springs.between[static_cast<std::size_t>(n / 3)] = stiff;
        if (!between) springs.ground[n / 3] = stiff;
        for (const double sigma : {0.5, 1.9, 3.2}) {
          const Solution solution = solve(springs.problem(context), {.nev = 3, .sigma = sigma});
          const std::string about =
              fmt::format("{} unknowns, {} {}, sigma {}: {}", n, stiff,
                          between ? "between two" : "to the ground", sigma, solution.reason);
          const std::vector<long double> exact = three_nearest(springs, sigma);
          ASSERT_EQ(solution.eigenvalues.size(), exact.size()) << about;
          for (std::size_t j = 0; j < exact.size(); ++j) {
            const double bound = solution.error_bounds[j];
            const auto error = static_cast<double>(std::abs(solution.eigenvalues[j] - exact[j]));
            EXPECT_LE(error, bound + kRoundingOfTruth) << about;
            if (solution.converged[j]) {
              EXPECT_LE(bound, 1e-6 * solution.eigenvalues[j]) << about;
            }
          }
          if (between) continue;
          EXPECT_EQ(solution.status, SolveStatus::converged) << about;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle
