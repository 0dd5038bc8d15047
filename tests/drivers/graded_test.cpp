#include <gtest/gtest.h>

#include <cmath>
#include <drivers/springs.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <vector>

// Penalties, tiny masses and stiff springs, which hide the digits of small eigenvalues from
// products with A.
namespace heddle {
namespace {

using test::held_chain;
using test::Springs;

void expect_digits(const Springs& springs, Request request, const std::string& about) {
  HostContext context(1);
  const Solution solution = solve(springs.problem(context), request);
  ASSERT_EQ(solution.status, SolveStatus::converged) << about << ": " << solution.reason;
  for (Index j = 0; j < request.nev; ++j) {
    const auto place = static_cast<std::size_t>(j);
    const double value = solution.eigenvalues.at(place);
    const double bound = solution.error_bounds.at(place);
    const long double truth = springs.eigenvalue(j);
    EXPECT_LE(std::abs(value - truth), bound) << about << ", value " << j;
    EXPECT_LE(bound, 1e-6 * std::abs(value)) << about << ", value " << j;
    if (j > 0) {
      EXPECT_LE(solution.eigenvalues[place - 1], value) << about;
    }
  }
}

TEST(Graded, PenaltiesOfAnySizeLeaveAllDigits) {
  for (const Index n : {3, 50, 400}) {
    for (const double s : {1e4, 1e6, 1e8, 1e10, 1e12, 1e14, 1e20, 1e30}) {
      expect_digits(held_chain(n, s), {.nev = n == 3 ? 2 : 3},
                    "n = " + std::to_string(n) + ", s = " + std::to_string(s));
    }
  }
}

TEST(Graded, ManyHeldRowsOfDifferentPenalties) {
  for (const Index n : {120, 600}) {
    Springs springs = held_chain(n, 1e13);
    // Between held rows lie parts of different lengths, whose values differ.
    Index length = 11;
    for (Index i = 17; i < n; i += length++) springs.ground[i] = std::pow(10.0, 11 + (i % 9));
    expect_digits(springs, {.nev = 4}, "held rows");
  }
}

TEST(Graded, AllValuesOfASmallProblemAscend) {
  // 1.38, 3.62 and 10¹⁶, and the same with a penalty of 10²⁰.
  for (const double s : {1e16, 1e20}) {
    HostContext context(1);
    const std::vector<Triplet<double>> entries = {{0, 0, 2},  {0, 1, -1}, {0, 2, -1},
                                                  {1, 0, -1}, {1, 1, 3},  {1, 2, -1},
                                                  {2, 0, -1}, {2, 1, -1}, {2, 2, s}};
    const Problem problem{.A = Matrix(csr_from_triplets<double>(context, 3, 3, entries))};
    const Solution solution = solve(problem, {.nev = 3});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    EXPECT_NEAR(solution.eigenvalues[0], (5 - std::sqrt(5.0)) / 2, 1e-13);
    EXPECT_NEAR(solution.eigenvalues[1], (5 + std::sqrt(5.0)) / 2, 1e-13);
    EXPECT_NEAR(solution.eigenvalues[2] / s, 1, 1e-13);
  }
}

TEST(Graded, TinyMassesInPlaceOfZeros) {
  for (const Index n : {6, 300}) {
    for (const double tau : {1e-6, 1e-10, 1e-12, 1e-16, 1e-20}) {
      Springs beam = held_chain(n, 1);
      for (Index i = 0; i < n; ++i) beam.masses.push_back(i % 2 == 0 ? tau : 1);
      expect_digits(beam, {.nev = 3}, "tau = " + std::to_string(std::log10(tau)));
    }
  }
}

/// Rows that a spring joins cancel to rounding from 1e16 on. The stored matrix then has a negative
/// eigenvalue: (1, 2, 2, 1) in these rows and their neighbours has an energy of 4 − 8.
TEST(Graded, AMotionThatRoundingHidesIsNotMissed) {
  HostContext context(1);
  for (const Index n : {20, 40, 100, 400}) {
    for (const double s : {1e17, 1e18, 1e20, 1e25}) {
      Springs chain = held_chain(n, 1);
      chain.between[static_cast<std::size_t>(n / 2)] = s;
      const Request request{.nev = 2, .max_iterations = 50};
      const Solution solution = solve(chain.problem(context), request);
      const bool right = solution.eigenvalues[0] < 0;
      EXPECT_TRUE(right || solution.status != SolveStatus::converged) << n << ", " << s;
      EXPECT_TRUE(right || !solution.completeness.proven) << n << ", " << s;
    }
  }
}

/// What the entries tell of values beside such a spring is less than six digits from 1e10 on.
TEST(Graded, ValuesBesideAStiffSpringHaveSixDigitsOrAreNotConverged) {
  HostContext context(1);
  for (const Index n : {3, 40, 400}) {
    for (const double s : {1e4, 1e6, 1e8, 1e10, 1e12, 1e14}) {
      Springs chain = held_chain(n, 1);
      chain.between[static_cast<std::size_t>(n / 2)] = s;
      const Solution solution = solve(chain.problem(context), {.nev = 1, .max_iterations = 50});
      EXPECT_TRUE(s > 1e4 || solution.status == SolveStatus::converged) << n;
      if (solution.status != SolveStatus::converged) continue;
      const double value = solution.eigenvalues[0];
      const double bound = solution.error_bounds[0];
      EXPECT_LE(bound, 1e-6 * value) << n << ", " << s;
      EXPECT_EQ(chain.below(value - bound), 0);
      EXPECT_EQ(chain.below(value + bound), 1);
      EXPECT_LE(s, 1e10);
    }
  }
}

/// A motion without energy beside eigenvalues up to 1e20, which small masses have.
TEST(Graded, AllPairsOfAFreeChainWithTinyMasses) {
  Springs chain{std::vector<double>(11, 1.0), {}};
  for (int i = 0; i < 12; ++i) chain.masses.push_back(i % 2 == 0 ? 1 : std::pow(10, -9 - i));
  HostContext context(1);
  const Solution solution = solve(chain.problem(context), {.nev = 12});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_LE(solution.orthogonality, 1e-13);
  EXPECT_NEAR(solution.eigenvalues[0], 0, 1e-13);
  for (Index j = 1; j < 12; ++j) {
    const long double value = solution.eigenvalues[static_cast<std::size_t>(j)];
    EXPECT_EQ(chain.below(value * (1 - 1e-12L)), j) << j;
    EXPECT_EQ(chain.below(value * (1 + 1e-12L)), j + 1) << j;
  }
}

TEST(Graded, UnitsOfMillimetresAndTonnes) {
  Springs springs = held_chain(300, 1e17);
  for (double& k : springs.between) k = 2.1e5;
  springs.masses.assign(300, 7.85e-9);
  expect_digits(springs, {.nev = 3}, "mm and t");
}

TEST(Graded, FrequenciesAndVectorsAreThoseOfTheProblem) {
  const Springs springs = held_chain(400, 1e20);
  HostContext context(1);
  const Problem problem = springs.problem(context);
  const Solution solution = solve(problem, {.nev = 2});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_TRUE(solution.frequencies.empty()) << "there is no mass matrix";
  const auto X = std::get<HostBlock<double>>(solution.vectors).view();
  for (Index j = 0; j < 2; ++j) {
    double square = 0;
    for (Index i = 0; i < 400; ++i) square += X(i, j) * X(i, j);
    EXPECT_NEAR(square, 1, 1e-12);
    EXPECT_NEAR(X(0, j), X(1, j) / springs.diagonal(0), 1e-24);  // s x_0 = x_1 + λ x_0
    const double lambda = solution.eigenvalues[static_cast<std::size_t>(j)];
    for (Index i = 1; i < 400; ++i) {
      const double next = i + 1 < 400 ? X(i + 1, j) : 0;
      const double r = springs.diagonal(i) * X(i, j) - X(i - 1, j) - next - lambda * X(i, j);
      EXPECT_NEAR(r, 0, 1e-13);
    }
  }
}

TEST(Graded, NoMethodCallsAValueWithoutDigitsConverged) {
  for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
    for (const double s : {1e10, 1e14, 1e20}) {
      for (const bool inside : {false, true}) {
        Springs springs = held_chain(400, inside ? 1 : s);
        if (inside) springs.between[200] = s;
        HostContext context(1);
        Request request{.method = method, .nev = 3, .max_iterations = 300};
        if (method == Method::block_lanczos) request.filter = LanczosFilter::chebyshev;
        const Solution solution = solve(springs.problem(context), request);
        if (solution.status != SolveStatus::converged) continue;
        for (Index j = 0; j < 3; ++j) {
          const auto place = static_cast<std::size_t>(j);
          const double bound = solution.error_bounds[place];
          EXPECT_LE(bound, 1e-3 * std::abs(solution.eigenvalues[place])) << s << inside;
          EXPECT_LE(std::abs(solution.eigenvalues[place] - springs.eigenvalue(j)), bound) << s;
        }
      }
    }
  }
}

/// [2 1; 1 2] ⊕ t [2 1; 1 2], whose eigenvalues are t, 3t, 1 and 3. For t below 1e-162, t² is 0.
TEST(Graded, BoundsHoldWhereSquaresUnderflow) {
  for (const double t : {1e-150, 1e-162, 1e-200, 1e-300}) {
    const std::vector<double> truth{t, 3 * t, 1, 3};
    const std::vector<Triplet<double>> entries{{0, 0, 2},     {0, 1, 1}, {1, 0, 1}, {1, 1, 2},
                                               {2, 2, 2 * t}, {2, 3, t}, {3, 2, t}, {3, 3, 2 * t}};
    HostContext context(1);
    const Problem problem{.A = Matrix(csr_from_triplets<double>(context, 4, 4, entries))};
    const auto expect_bounded = [&](Request request, const std::string& about) {
      request.nev = 4;
      const Solution solution = solve(problem, request);
      ASSERT_EQ(solution.eigenvalues.size(), 4u) << about << ": " << solution.reason;
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t place = request.which == Which::largest ? 3 - j : j;
        EXPECT_LE(std::abs(solution.eigenvalues[j] - truth[place]), solution.error_bounds[j])
            << about << ", t = " << t << ", value " << j << ": " << solution.reason;
      }
      if (about == "default") {
        EXPECT_EQ(solution.status, SolveStatus::converged);
      }
    };
    expect_bounded({}, "default");
    expect_bounded({.which = Which::largest}, "largest");
    expect_bounded({.method = Method::lobpcg}, "lobpcg");
    expect_bounded({.method = Method::block_lanczos, .filter = LanczosFilter::none}, "no inverse");
    expect_bounded({.method = Method::block_lanczos, .interval = RealInterval{-1, 4}}, "interval");
  }
}

TEST(Graded, AGuessIsTakenInTheScaledProblem) {
  const Springs springs = held_chain(400, 1e16);
  HostContext context(1);
  Problem problem = springs.problem(context);
  const Solution cold = solve(problem, {.nev = 2});
  problem.initial_guess = std::get<HostBlock<double>>(cold.vectors);
  const Solution warm = solve(problem, {.nev = 2});
  ASSERT_EQ(warm.status, SolveStatus::converged) << warm.reason;
  EXPECT_NEAR(warm.eigenvalues[0] / cold.eigenvalues[0], 1, 1e-10);
}

}  // namespace
}  // namespace heddle
