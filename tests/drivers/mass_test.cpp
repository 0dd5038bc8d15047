#include <gtest/gtest.h>

#include <cmath>
#include <drivers/chain.hpp>
#include <drivers/refusal.hpp>
#include <functional>
#include <heddle/drivers/solve.hpp>

namespace heddle {
namespace {

using test::Chain;
using test::chain_eigenvalue;
using test::refusal;

/// A symmetric matrix with the entries entry(i, j), stored where |i − j| ≤ width.
struct Banded {
  Index n;
  std::vector<std::int64_t> row_offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  Banded(Index order, Index width, const std::function<double(Index, Index)>& entry) : n(order) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = std::max<Index>(0, i - width); j <= std::min(n - 1, i + width); ++j) {
        if (entry(i, j) == 0) continue;
        columns.push_back(static_cast<std::int32_t>(j));
        values.push_back(entry(i, j));
      }
      row_offsets.push_back(std::ssize(columns));
    }
  }

  Matrix matrix() const { return {n, n, row_offsets, columns, values}; }
};

/// Unit masses in every second row.
Banded every_second_mass(Index n) {
  return {n, 0, [](Index i, Index) { return i % 2 == 1 ? 1.0 : 0.0; }};
}

/// In steel, m, kg and s, a stiffness is larger than a mass by many powers of ten.
TEST(ExchangedMatrices, AreAskedAbout) {
  for (const Index n : {40, 400}) {
    const auto entries = [](double size) {
      return [size](Index i, Index j) { return i == j ? 2 * size : -size; };
    };
    const Banded K(n, 1, entries(1e9)), M(n, 0, entries(4));
    const auto asked = [&](const Banded& A, const Banded& B) {
      const Solution solution = solve({.A = A.matrix(), .B = B.matrix()}, {.nev = 2});
      EXPECT_EQ(solution.status, SolveStatus::converged) << solution.reason;
      return solution.reason.find("are the two exchanged?") != std::string::npos;
    };
    EXPECT_FALSE(asked(K, M));
    EXPECT_TRUE(asked(M, K));
  }
}

/// A chain of unit springs with m masses between massless nodes is a chain of m masses and springs
/// of stiffness ½.
TEST(SingularMass, UnknownsWithoutMassAreCondensed) {
  for (const Index m : {50, 400}) {
    const Index n = 2 * m + 1;
    const Chain<std::int64_t> A(n);
    const Banded B = every_second_mass(n);
    for (const Precision precision : {Precision::full, Precision::single, Precision::mixed}) {
      const Solution solution =
          solve({.A = A.matrix(), .B = B.matrix()}, {.nev = 5, .precision = precision});
      ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
      EXPECT_EQ(solution.method, "block_lanczos");
      EXPECT_EQ(solution.infinite_eigenvalues, m + 1);
      EXPECT_NE(solution.reason.find("infinite eigenvalues are left out"), std::string::npos);
      const double accuracy = precision == Precision::single ? 1e-3 : 1e-8;
      for (Index j = 0; j < 5; ++j) {
        const double exact = chain_eigenvalue(m, j + 1) / 2;
        EXPECT_NEAR(solution.eigenvalues.at(static_cast<std::size_t>(j)) / exact, 1, accuracy);
      }
    }
  }
}

/// B = u uᵀ: the eigenvalue is 1/uᵀA⁻¹u. With u = 1, A⁻¹u is i (n + 1 − i)/2.
/// The norm of residuals in B⁻¹ is not finite.
TEST(SingularMass, ValuesBelowTheToleranceHaveFiniteBounds) {
  const Chain<std::int64_t> K(1500);
  const Banded M = every_second_mass(1500);
  for (const auto& [criterion, tolerance] :
       {std::pair{Criterion::norm, 1e-5}, {Criterion::absolute, 1e-4}}) {
    const Solution solution = solve({.A = K.matrix(), .B = M.matrix()},
                                    {.nev = 4, .tolerance = tolerance, .criterion = criterion});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    for (const double bound : solution.error_bounds) EXPECT_LE(bound, 1e-9);
  }
}

TEST(SingularMass, OfRankOneHasOneEigenvalue) {
  for (const Index n : {60, 300}) {
    const Chain<std::int64_t> A(n);
    const Banded B(n, n, [](Index, Index) { return 1.0; });
    const Problem problem{.A = A.matrix(), .B = B.matrix()};
    const Solution solution = solve(problem, {.nev = 1});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    const auto order = static_cast<double>(n);
    EXPECT_NEAR(solution.eigenvalues.at(0) * order * (order + 1) * (order + 2) / 12, 1, 1e-8);
    EXPECT_EQ(solution.infinite_eigenvalues, n - 1);
    EXPECT_NE(refusal(problem, {.nev = 2}).find("nev is 2, but 1 of the eigenvalues are finite"),
              std::string::npos);
    // A caller that gives a wrong dimension is told by the solve.
    Problem unknown = problem;
    unknown.infinite_eigenvalues = n - 5;
    const Solution few = solve(unknown, {.nev = 3});
    EXPECT_EQ(few.status, SolveStatus::breakdown);
    EXPECT_NE(few.reason.find("nev exceeds the number of finite eigenvalues"), std::string::npos)
        << few.reason;
  }
}

/// A free chain of unit masses at its first, third, … node. Its smallest eigenvalue is 0.
TEST(SingularMass, ABodyThatIsFreeIsShifted) {
  for (const Index m : {40, 300}) {
    const Index n = 2 * m - 1;
    const Banded A(n, 1, [n](Index i, Index j) {
      if (i != j) return -1.0;
      return i == 0 || i == n - 1 ? 1.0 : 2.0;
    });
    const Banded B(n, 0, [](Index i, Index) { return i % 2 == 0 ? 1.0 : 0.0; });
    const Solution solution = solve({.A = A.matrix(), .B = B.matrix()}, {.nev = 4});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    EXPECT_NEAR(solution.eigenvalues.at(0), 0, 1e-12);
    for (Index j = 1; j < 4; ++j) {
      const double s =
          std::sin(std::numbers::pi * static_cast<double>(j) / (2.0 * static_cast<double>(m)));
      EXPECT_NEAR(solution.eigenvalues.at(static_cast<std::size_t>(j)) / (2 * s * s), 1, 1e-7);
    }
  }
}

TEST(SingularMass, WhatCannotBeSolvedSaysWhy) {
  const Chain<std::int64_t> A(9);
  const Banded B = every_second_mass(9);
  const Problem problem{.A = A.matrix(), .B = B.matrix()};
  const std::string singular = "B: the mass matrix is singular, its null space has dimension 5: ";
  EXPECT_EQ(refusal(problem, {.method = Method::lobpcg, .nev = 2}),
            singular +
                "lobpcg needs a positive definite one, use block_lanczos (heddle-lanczos), which "
                "factors A - sigma B");
  EXPECT_EQ(refusal(problem, {.nev = 2, .which = Which::largest}),
            singular + "the largest eigenvalues are infinite, only the smallest ones can be found");
  Request filtered{.nev = 2};
  filtered.filter = LanczosFilter::chebyshev;
  EXPECT_NE(refusal(problem, filtered).find("use filter: auto or inverse"), std::string::npos);
  const Banded indefinite(9, 1, [](Index i, Index j) { return i == j ? (i % 2 ? 2. : -1.) : -1.; });
  const Solution solution = solve({.A = indefinite.matrix(), .B = B.matrix()}, {.nev = 2});
  EXPECT_EQ(solution.status, SolveStatus::indefinite);
  EXPECT_NE(solution.reason.find("A is not positive definite on its null space"), std::string::npos)
      << solution.reason;
}

/// Blocks (1 + k/n)[[1, d], [d, 1]], with the eigenvalues (1 + k/n)(1 ± d).
Banded ill_conditioned(Index n, double distance) {
  return {n, 1, [n, distance](Index i, Index j) {
            if (i / 2 != j / 2) return 0.0;
            const double size = 1 + static_cast<double>(i / 2) / static_cast<double>(n);
            return i == j ? size : size * (1 - distance);
          }};
}

TEST(IllConditionedMass, BothEndsAreFoundByFactors) {
  for (const Index n : {200, 600}) {
    for (const double distance : {1e-4, 1e-7, 1e-10}) {
      const Banded B = ill_conditioned(n, distance);
      for (const double sign : {1.0, -1.0}) {
        const Banded A(n, 0, [sign](Index, Index) { return sign; });
        const Which which = sign > 0 ? Which::largest : Which::smallest;
        const Solution solution =
            solve({.A = A.matrix(), .B = B.matrix()},
                  {.method = Method::block_lanczos, .nev = 3, .which = which});
        ASSERT_EQ(solution.status, SolveStatus::converged) << distance << solution.reason;
        for (Index k = 0; k < 3; ++k) {
          const double size = 1 + static_cast<double>(k) / static_cast<double>(n);
          const double exact = sign / (size * (1 - (1 - distance)));
          EXPECT_NEAR(solution.eigenvalues.at(static_cast<std::size_t>(k)) / exact, 1,
                      1e-7 + 1e-14 / distance)
              << distance;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle
