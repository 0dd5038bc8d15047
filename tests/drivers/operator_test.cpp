#include <gtest/gtest.h>

#include <drivers/chain.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/error.hpp>
#include <string>

namespace heddle {
namespace {

using test::chain_eigenvalue;

constexpr Index kOrder = 300;
constexpr double kAccuracy = 1e-9;

Matrix chain_operator() { return {kOrder, kOrder, test::multiply_by_chain}; }

void expect_largest(const Solution& solution) {
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  for (Index j = 0; j < solution.count(); ++j) {
    EXPECT_NEAR(solution.eigenvalues[static_cast<std::size_t>(j)],
                chain_eigenvalue(kOrder, kOrder - j), kAccuracy);
  }
}

TEST(Operator, BlockLanczosAndLobpcg) {
  const Problem problem{.A = chain_operator()};
  const Solution lanczos = solve(problem, {.nev = 4, .which = Which::largest});
  EXPECT_EQ(lanczos.method, "block_lanczos");
  EXPECT_EQ(lanczos.preconditioner_name, "none");
  EXPECT_EQ(lanczos.spmm_kernel, "");
  expect_largest(lanczos);
  expect_largest(solve(problem, {.method = Method::lobpcg, .nev = 4, .which = Which::largest}));
}

TEST(Operator, WithAPreconditionerOfTheCallers) {
  Index applications = 0;
  Problem problem{.A = chain_operator()};
  problem.preconditioner = Matrix(kOrder, kOrder, [&](const auto& X, const auto& Y) {
    ++applications;
    // (T + I)⁻¹ by the Thomas algorithm.
    std::vector<double> ratio(kOrder);
    for (Index j = 0; j < X.cols(); ++j) {
      double pivot = 3;
      for (Index i = 0; i < kOrder; ++i) {
        if (i > 0) pivot = 3 - ratio[static_cast<std::size_t>(i - 1)];
        ratio[static_cast<std::size_t>(i)] = 1 / pivot;
        Y(i, j) = (X(i, j) + (i > 0 ? Y(i - 1, j) : 0)) / pivot;
      }
      for (Index i = kOrder - 2; i >= 0; --i) {
        Y(i, j) += ratio[static_cast<std::size_t>(i)] * Y(i + 1, j);
      }
    }
  });
  const Solution solution = solve(problem, {.nev = 3});
  EXPECT_EQ(solution.method, "lobpcg");
  EXPECT_EQ(solution.preconditioner_name, "a callable");
  EXPECT_GT(applications, 0);
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(solution.eigenvalues[static_cast<std::size_t>(j)], chain_eigenvalue(kOrder, j + 1),
                kAccuracy);
  }
}

TEST(Operator, BlockCg) {
  const std::vector<double> ones(kOrder, 1);
  const Solution solution = solve({.A = chain_operator(), .rhs = Block(kOrder, 1, ones)});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  const auto x = std::get<Block>(solution.vectors).view();
  for (Index i = 0; i < kOrder; ++i) {  // x_i = i (n + 1 − i) / 2, i from 1
    const double exact = 0.5 * static_cast<double>((i + 1) * (kOrder - i));
    EXPECT_NEAR(x(i, 0), exact, 1e-4 * exact) << i;
  }
}

TEST(Operator, SingularValuesNeedTheTranspose) {
  // A = D with d_i = i, of 40 × 30: singular values are 30, 29, …
  const auto scale = [](const auto& X, const auto& Y) {
    for (Index i = 0; i < Y.rows(); ++i) {
      for (Index j = 0; j < Y.cols(); ++j) {
        Y(i, j) = i < X.rows() ? static_cast<double>(i + 1) * X(i, j) : 0;
      }
    }
  };
  Problem problem{.A = {40, 30, scale}, .normal_equations = true};
  const Request request{.nev = 3, .which = Which::largest};
  EXPECT_THROW(solve(problem, request), ProblemError);
  problem.A_transposed = Matrix(30, 40, scale);
  const Solution solution = solve(problem, request);
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(solution.singular_values[static_cast<std::size_t>(k)], 30 - k, kAccuracy);
  }
}

TEST(Operator, ATransposeThatNothingReadsIsLeftOut) {
  const std::vector<std::int64_t> offsets{0, 1, 2};
  const std::vector<std::int32_t> columns{0, 1};
  const std::vector<double> values{2, 4};
  const std::vector<double> ones(2, 1);
  const auto unread = [](const auto&, const auto&) { FAIL() << "nothing needs the transpose"; };
  const Solution solution = solve({.A = Matrix(2, 2, offsets, columns, values),
                                   .rhs = Block(2, 1, ones),
                                   .A_transposed = Matrix(2, 2, unread)},
                                  {.preconditioner = {.type = "jacobi"}});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  const auto x = std::get<Block>(solution.vectors).view();
  EXPECT_NEAR(x(0, 0), 0.5, kAccuracy);
  EXPECT_NEAR(x(1, 0), 0.25, kAccuracy);
}

TEST(Operator, StaysOnTheHost) {
  const Problem problem{.A = chain_operator()};
  const Solution solution = solve(problem, {.nev = 2, .which = Which::largest});
  EXPECT_EQ(solution.device, "host");
  EXPECT_EQ(solution.device_note, "auto: A is a callable on host blocks");
  try {
    solve(problem, {.device = DeviceChoice::cuda});
    FAIL() << "a callable cannot run on a GPU";
  } catch (const RequestError& error) {
    EXPECT_STREQ(error.what(), "device: cuda cannot be used: A is a callable on host blocks");
    EXPECT_EQ(error.field(), "device");
  }
}

TEST(Operator, WhatNeedsEntriesIsRefused) {
  const Problem problem{.A = chain_operator()};
  const auto message = [&](const Request& request) -> std::string {
    try {
      solve(problem, request);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({.preconditioner = {.type = "jacobi"}}),
            "preconditioner.type: jacobi needs a diagonal, of A only products are there");
  EXPECT_EQ(
      message({.precision = Precision::mixed}),
      "precision: single and mixed need stored matrices, A is a callable in double precision");
  EXPECT_THROW(Matrix(3, 3, Matrix::Apply{}), InvalidArgument);
  Problem own = problem;
  own.preconditioner = chain_operator();
  try {
    solve(own, {.method = Method::block_lanczos});
    FAIL() << "block Lanczos would not use it";
  } catch (const ProblemError& error) {
    EXPECT_STREQ(error.what(), "preconditioner: block_lanczos takes none");
  }
}

}  // namespace
}  // namespace heddle
