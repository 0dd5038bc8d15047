#include <gtest/gtest.h>

#include <cmath>
#include <drivers/chain.hpp>
#include <heddle/drivers/solve.hpp>
#include <numeric>

namespace heddle {
namespace {

using test::Chain;
using test::chain_eigenvalue;

/// T times `factor`.
struct ScaledChain : Chain<std::int64_t> {
  ScaledChain(Index order, double factor) : Chain(order) {
    for (double& value : values) value *= factor;
  }
};

/// `values` times a multiple of the identity.
struct Diagonal {
  std::vector<std::int64_t> row_offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  explicit Diagonal(std::vector<double> entries)
      : row_offsets(entries.size() + 1), columns(entries.size()), values(std::move(entries)) {
    std::iota(row_offsets.begin(), row_offsets.end(), 0);
    std::iota(columns.begin(), columns.end(), 0);
  }

  Matrix matrix() const {
    const auto n = static_cast<Index>(values.size());
    return {n, n, row_offsets, columns, values};
  }
};

constexpr double kTiny = 0x1p-1000;
constexpr double kHuge = 0x1p+1020;

TEST(Scaling, EigenvaluesOfMatricesOfAnySize) {
  for (const Index n : {60, 300}) {
    for (const double factor : {kTiny, 1e-165, 1e200, kHuge}) {
      const ScaledChain chain(n, factor);
      for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
        for (const Which which : {Which::smallest, Which::largest}) {
          if (n == 300 && which == Which::smallest && method == Method::lobpcg) continue;  // slow
          const Solution solution =
              solve({.A = chain.matrix()}, {.method = method, .nev = 3, .which = which});
          ASSERT_EQ(solution.status, SolveStatus::converged) << factor << solution.reason;
          for (Index j = 0; j < 3; ++j) {
            const Index k = which == Which::smallest ? j + 1 : n - j;
            EXPECT_NEAR(solution.eigenvalues.at(static_cast<std::size_t>(j)) / factor,
                        chain_eigenvalue(n, k), 1e-7)
                << factor;
          }
        }
      }
    }
  }
}

TEST(Scaling, PencilsWithVectorsOfUnitLength) {
  constexpr Index kOrder = 40;
  for (const double a : {1e-200, 1.0, 1e250}) {
    for (const double b : {1e-150, 1e200}) {
      const ScaledChain A(kOrder, a);
      const Diagonal B(std::vector<double>(kOrder, b));
      for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
        const Solution solution =
            solve({.A = A.matrix(), .B = B.matrix()}, {.method = method, .nev = 2});
        const double exact = a / b * chain_eigenvalue(kOrder, 1);
        if (exact == 0 || std::isinf(exact)) {
          EXPECT_EQ(solution.status, SolveStatus::breakdown);
          EXPECT_NE(solution.reason.find("eigenvalue 1, which is "), std::string::npos)
              << solution.reason;
          continue;
        }
        ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
        EXPECT_NEAR(solution.eigenvalues.at(0) / exact, 1, 1e-9);
        const auto X = std::get<Block>(solution.vectors).view();
        double square = 0;
        for (Index i = 0; i < kOrder; ++i) square += X(i, 0) * (X(i, 0) * b);
        EXPECT_NEAR(square, 1, 1e-9) << a << " " << b;
      }
    }
  }
}

TEST(Scaling, AnIntervalAndAnAbsoluteToleranceAreScaled) {
  constexpr double kFactor = 1e-200;
  const ScaledChain chain(60, kFactor);
  Request request{.nev = 10, .interval = RealInterval{1.9 * kFactor, 2.1 * kFactor}};
  const Solution inside = solve({.A = chain.matrix()}, request);
  ASSERT_EQ(inside.status, SolveStatus::converged) << inside.reason;
  EXPECT_EQ(inside.count(), 2);  // 2 ± 2 sin(π/122) lies inside, 2 ± 2 sin(3π/122) does not
  for (const double value : inside.eigenvalues) {
    EXPECT_NEAR(std::abs(value / kFactor - 2), 2 * std::sin(std::numbers::pi / 122), 1e-9);
  }
  Request absolute{.method = Method::lobpcg,
                   .nev = 2,
                   .tolerance = 1e-3 * kFactor,
                   .criterion = Criterion::absolute};
  const ScaledChain large(400, kFactor);
  const Index loose = solve({.A = large.matrix()}, absolute).iterations;
  absolute.tolerance = 1e-9 * kFactor;
  EXPECT_LT(loose, solve({.A = large.matrix()}, absolute).iterations);
}

TEST(Scaling, TheMonitorSeesTheValuesOfTheProblem) {
  const ScaledChain chain(400, 1e-200);
  double last = 0;
  solve({.A = chain.matrix()}, {.nev = 1}, [&](const MonitorState& state) {
    last = state.eigenvalues.front();
    return true;
  });
  EXPECT_NEAR(last * 1e200, chain_eigenvalue(400, 1), 1e-5);
}

TEST(Scaling, LinearSystemsAndTheirColumnsOfAnySize) {
  constexpr Index kOrder = 30;
  for (const double a : {1e-290, 1e-10, 1.0, 1e10, 1e290}) {
    const ScaledChain chain(kOrder, a);
    for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
      // b = T 1 times its factor.
      std::vector<double> b(2 * kOrder, 0);
      b[0] = b[2 * kOrder - 2] = a;
      b[1] = b[2 * kOrder - 1] = 1e-3 * a;
      const Solution solution =
          solve({.A = chain.matrix(), .rhs = Block(kOrder, 2, b)}, {.algorithm = algorithm});
      ASSERT_EQ(solution.status, SolveStatus::converged) << a << solution.reason;
      const auto X = std::get<Block>(solution.vectors).view();
      for (Index i = 0; i < kOrder; ++i) {
        EXPECT_NEAR(X(i, 0), 1, 1e-6);
        EXPECT_NEAR(X(i, 1), 1e-3, 1e-9);
      }
    }
  }
}

/// x = b/a overflows or underflows in one column. The other one is solved all the same.
TEST(Scaling, ASolutionThatIsNoNumberIsNeverConverged) {
  const std::vector<double> large(4, 1e10);
  const std::vector<double> small(4, 1e-10);
  const auto solve_with = [](const std::vector<double>& diagonal, double b) {
    return solve({.A = Diagonal(diagonal).matrix(),
                  .rhs = Block(4, 2, std::vector<double>{b, 1, b, 1, b, 1, b, 1})});
  };
  for (const Solution& solution : {solve_with(small, 1e300), solve_with(large, 1e-300)}) {
    EXPECT_EQ(solution.status, SolveStatus::breakdown);
    EXPECT_NE(solution.reason.find("overflows or underflows"), std::string::npos)
        << solution.reason;
    EXPECT_EQ(solution.residuals.at(0), 1);
    EXPECT_LT(solution.residuals.at(1), 1e-8);
    EXPECT_TRUE(std::isfinite(std::get<Block>(solution.vectors).view()(0, 0)));
  }
  EXPECT_THROW(solve_with({1e-300, 1e-300, 1e-300, 1e-300}, 1e300), ProblemError);
  EXPECT_THROW(solve_with({1e300, 1e300, 1e300, 1e300}, 1e-300), ProblemError);
}

TEST(Scaling, SingularValuesAndLeastSquares) {
  for (const double factor : {1e-200, 1e200}) {
    std::vector<double> entries(20);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i] = factor * static_cast<double>(i + 1);
    }
    const Diagonal diagonal(entries);
    const Problem problem{.A = diagonal.matrix(), .normal_equations = true};
    const Solution triplets = solve(problem, {.nev = 2, .which = Which::largest});
    ASSERT_EQ(triplets.status, SolveStatus::converged) << triplets.reason;
    EXPECT_NEAR(triplets.singular_values.at(0) / factor, 20, 1e-6);
    EXPECT_NEAR(triplets.singular_values.at(1) / factor, 19, 1e-6);
    Problem fit = problem;
    fit.rhs = Block(20, 1, entries);
    const Solution solution = solve(fit);
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    for (Index i = 0; i < 20; ++i) {
      EXPECT_NEAR(std::get<Block>(solution.vectors).view()(i, 0), 1, 1e-6);
    }
    EXPECT_LT(solution.residual_norms.at(0), 1e-5 * factor);
  }
}

}  // namespace
}  // namespace heddle
