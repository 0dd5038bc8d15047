#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <drivers/refusal.hpp>
#include <heddle/drivers/solve.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "drivers/chain.hpp"

namespace heddle {
namespace {

using test::Chain;
using test::diagonal;
using test::refusal;

constexpr double kEuler = std::numbers::pi * std::numbers::pi;  // of a pinned column

Problem column(Index elements) {
  return {.A = Matrix::generate({"column", {elements}}),
          .geometric_stiffness = Matrix::generate({"column_geometric", {elements}})};
}

TEST(Buckling, LoadFactorsOfAColumnAreEulersAndProven) {
  for (const Index elements : {20, 200, 1000}) {
    const Solution solution = solve(column(elements), {.nev = 4});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    EXPECT_EQ(solution.method, "nearest");
    EXPECT_EQ(solution.method_reason, "load factors are wanted");
    EXPECT_TRUE(solution.completeness.proven);
    EXPECT_TRUE(solution.frequencies.empty());
    ASSERT_EQ(solution.count(), 4);
    for (Index k = 1; k <= 4; ++k) {
      const double exact = kEuler * static_cast<double>(k * k);
      const double step = std::numbers::pi * static_cast<double>(k) / static_cast<double>(elements);
      const double found = solution.eigenvalues[static_cast<std::size_t>(k - 1)];
      EXPECT_NEAR(found, exact, exact * (std::pow(step, 4) / 700 + 1e-9)) << k;
    }
  }
}

/// Tension in place of compression turns all signs.
TEST(Buckling, SignsFollowTheSideThatIsAskedFor) {
  Problem problem = column(150);
  const Solution positive = solve(problem, {.nev = 3});
  const Solution none = solve(problem, {.nev = 3, .side = Side::below});
  EXPECT_EQ(none.status, SolveStatus::converged) << none.reason;
  EXPECT_EQ(none.count(), 0);
  EXPECT_NE(none.reason.find("these are the load factors"), std::string::npos) << none.reason;
  const Solution both = solve(problem, {.nev = 3, .side = Side::both});
  ASSERT_EQ(both.count(), 3);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(both.eigenvalues[j], positive.eigenvalues[j], 1e-8 * positive.eigenvalues[j]);
  }
  const Solution near = solve(problem, {.nev = 2, .sigma = 9 * kEuler});
  ASSERT_EQ(near.count(), 2);
  EXPECT_NEAR(near.eigenvalues[0], 4 * kEuler, 1e-4);
  EXPECT_NEAR(near.eigenvalues[1], 9 * kEuler, 1e-3);
  const Solution above = solve(problem, {.nev = 1, .sigma = 5 * kEuler, .side = Side::above});
  ASSERT_EQ(above.count(), 1);
  EXPECT_NEAR(above.eigenvalues[0], 9 * kEuler, 1e-3);
}

/// A mode of a diagonal pencil is a unit vector of the length 1/√a.
TEST(Buckling, ProblemsAreScaledAndUnscaled) {
  std::vector<double> stiffness, geometric;
  for (Index i = 0; i < 300; ++i) {
    stiffness.push_back(1 + static_cast<double>(i));
    geometric.push_back(i % 2 == 0 ? -1 : 0.5);
  }
  for (const int exponent : {0, 401, -400}) {
    std::vector<double> scaled = stiffness;
    for (double& each : scaled) each = std::ldexp(each, exponent);
    const Solution solution =
        solve({.A = diagonal(scaled), .geometric_stiffness = diagonal(geometric)},
              {.nev = 4, .side = Side::both});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    const std::vector<double> expected = {1, 3, -4, 5};
    ASSERT_EQ(solution.count(), 4);
    const ConstBlockView<double, HostSpace> X = std::get<Block>(solution.vectors).view();
    const std::vector<Index> rows = {0, 2, 1, 4};
    for (Index j = 0; j < 4; ++j) {
      const auto place = static_cast<std::size_t>(j);
      const double factor = std::ldexp(expected[place], exponent);
      EXPECT_NEAR(solution.eigenvalues[place] / factor, 1, 1e-8) << exponent;
      const Index row = rows[place];
      const double length = std::sqrt(scaled[static_cast<std::size_t>(row)]);
      EXPECT_NEAR(std::abs(X(row, j)) * length, 1, 1e-6) << exponent;
    }
  }
}

TEST(Buckling, ThePlanSaysWhatIsWanted) {
  Device host(DeviceChoice::host, 1);
  const SolvePlan planned = plan(host, column(30), {.nev = 2});
  const std::vector<PlannedChoice> choices = planned.choices();
  const auto value_of = [&](std::string_view name) {
    for (const PlannedChoice& choice : choices) {
      if (choice.name == name) return choice.value;
    }
    return std::string();
  };
  EXPECT_EQ(value_of("geometric stiffness"), "60 x 60, 292 entries");
  EXPECT_EQ(value_of("load factors"), "nearest to zero, positive");
  EXPECT_EQ(value_of("mass"), "");
  const auto asked = [&](const Request& request) {
    for (const PlannedChoice& choice : plan(host, column(30), request).choices()) {
      if (choice.name == "load factors") return choice.value;
    }
    return std::string();
  };
  EXPECT_EQ(asked({.nev = 2, .side = Side::both}), "nearest to zero, of both signs");
  EXPECT_EQ(asked({.nev = 2, .side = Side::below}), "nearest to zero, negative");
  EXPECT_EQ(asked({.nev = 2, .sigma = 2.5}), "nearest to 2.5");
  EXPECT_EQ(asked({.nev = 2, .sigma = 2.5, .side = Side::above}), "nearest to 2.5, above it");
}

TEST(Buckling, AStructureThatCanMoveFreelyIsRefused) {
  std::vector<double> values(300, 1);
  values[4] = 0;
  const Solution solution =
      solve({.A = diagonal(values), .geometric_stiffness = diagonal(std::vector<double>(300, -1))},
            {.nev = 3});
  EXPECT_EQ(solution.status, SolveStatus::indefinite);
  EXPECT_NE(solution.reason.find("A is not positive definite"), std::string::npos)
      << solution.reason;
  EXPECT_NE(solution.reason.find("supports hold the structure"), std::string::npos)
      << solution.reason;
}

TEST(Buckling, WhatDoesNotFitIsRefused) {
  const Chain<std::int64_t> chain(60);
  const Problem problem = column(30);
  const std::vector<double> ones(60, 1);
  const auto with = [&](auto&& change) {
    Problem changed = problem;
    change(changed);
    return refusal(changed, {.nev = 2});
  };
  EXPECT_EQ(with([&](Problem& p) { p.B = chain.matrix(); }),
            "B: load factors of K x = -lambda K_g x have no mass matrix: leave it out, or the "
            "geometric stiffness");
  EXPECT_EQ(with([&](Problem& p) {
              p.geometric_stiffness = Matrix::generate({"laplace1d", {7}});
            }),
            "geometric_stiffness: the geometric stiffness has order 7, the matrix has order 60");
  EXPECT_EQ(with([&](Problem& p) { p.geometric_stiffness = diagonal(std::vector(60, 0.0)); }),
            "geometric_stiffness: the geometric stiffness is zero, so there is no load factor");
  EXPECT_NE(with([&](Problem& p) {
              p.geometric_stiffness = Matrix::generate({"random_uniform", {60}, 3});
            }).find("geometric_stiffness: the matrix is not symmetric"),
            std::string::npos);
  EXPECT_EQ(with([&](Problem& p) { p.rhs = Block(60, 1, ones); }),
            "rhs: does not go with geometric_stiffness");
  EXPECT_EQ(with([&](Problem& p) { p.initial_guess = Block(60, 1, ones); }),
            "initial_guess: does not go with geometric_stiffness");
  EXPECT_EQ(with([&](Problem& p) { p.constraints = Block(60, 1, ones); }),
            "constraints: does not go with geometric_stiffness");
  EXPECT_EQ(with([&](Problem& p) { p.normal_equations = true; }),
            "geometric_stiffness: does not go with normal_equations");
  EXPECT_EQ(with([&](Problem& p) { p.geometric_stiffness = Matrix(60, 60, [](auto, auto) {}); }),
            "sigma: A - sigma B must be factored, geometric_stiffness is a callable");
  EXPECT_EQ(refusal(problem, {.method = Method::lobpcg, .nev = 2}),
            "method: lobpcg does not go with geometric_stiffness");
  EXPECT_EQ(refusal(problem, {.nev = 2, .which = Which::largest}),
            "which: largest does not go with geometric_stiffness");
  EXPECT_EQ(refusal(problem, {.nev = 2, .interval = RealInterval{0, 1}}),
            "interval does not go with geometric_stiffness");
  EXPECT_EQ(refusal(problem, {.nev = 2, .tolerance = 1, .criterion = Criterion::absolute}),
            "criterion: absolute does not go with geometric_stiffness");
  EXPECT_EQ(refusal(problem, {.nev = 2, .precision = Precision::mixed}),
            "precision: mixed does not go with geometric_stiffness");
}

}  // namespace
}  // namespace heddle
