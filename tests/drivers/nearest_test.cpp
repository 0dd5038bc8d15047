#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <drivers/chain.hpp>
#include <drivers/refusal.hpp>
#include <heddle/drivers/problem/request_values.hpp>
#include <heddle/drivers/solve.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::Chain;
using test::chain_eigenvalue;
using test::refusal;

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

}  // namespace
}  // namespace heddle
