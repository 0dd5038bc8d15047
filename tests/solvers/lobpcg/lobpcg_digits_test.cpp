#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <optional>
#include <random>

#include "solvers/digits.hpp"

namespace heddle {
namespace {

/// LOBPCG with its defaults and with a good preconditioner, against a dense solve in long double.
/// It need not converge on stiff problems, but what it calls converged must be.
TEST(LobpcgDigits, EveryConvergedValueLiesWithinItsBound) {
  Index converged = 0;
  for (const test::StiffProblem& problem : test::stiff_problems()) {
    HostContext context(2);
    SparseOperator<double, HostContext> A(context, problem.matrix(context));
    std::optional<SparseOperator<double, HostContext>> B;
    if (!problem.masses.empty()) B.emplace(context, problem.mass(context));
    std::vector<double> truth = problem.eigenvalues();
    const double top = std::max(std::abs(truth.front()), std::abs(truth.back()));
    IncompleteCholeskyPreconditioner<double, HostContext> factor(context, A.matrix());
    for (const bool preconditioned : {false, true}) {
      SCOPED_TRACE(problem.name + (preconditioned ? ", preconditioned" : ""));
      LobpcgOptions options;
      options.nev = 5;
      options.max_iterations = 500;
      EigenProblem<double, HostContext> eigenproblem{.A = &A, .B = B ? &*B : nullptr};
      if (preconditioned) eigenproblem.preconditioner = &factor;
      const auto result = lobpcg<double, HostContext>(context, eigenproblem, options);
      if (result.status != SolveStatus::converged) {
        std::printf("%s: %s\n", problem.name.c_str(), result.reason.c_str());
        EXPECT_TRUE(result.status == SolveStatus::max_iterations ||
                    result.status == SolveStatus::stagnated)
            << result.reason;
        continue;
      }
      ++converged;
      test::expect_digits(result, truth, 1e-18 * top);
    }
  }
  // The others lack digits that only a factor of A gives.
  EXPECT_GE(converged, 5);
}

/// 40 copies of 1, of which no guard vector shows the gap, beside values from 1e10 on.
TEST(LobpcgDigits, MoreCopiesThanGuardsConvergeAsFarAsRoundingAllows) {
  HostContext context(2);
  std::vector<Triplet<double>> triplets;
  for (Index i = 0; i < 200; ++i) {
    triplets.push_back({i, i, i < 40 ? 1 : 1e10 * (1 + static_cast<double>(i) / 200)});
  }
  SparseOperator<double, HostContext> A(context,
                                        csr_from_triplets<double>(context, 200, 200, triplets));
  LobpcgOptions options;
  options.nev = 5;
  const auto result = lobpcg<double, HostContext>(context, {.A = &A}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(result.eigenvalues[j], 1, result.error_bounds[j]);
    EXPECT_LE(result.error_bounds[j], 1e-4);
    EXPECT_TRUE(result.limited_by_rounding[j] || result.error_bounds[j] <= 2e-8);
  }
  const bool certain =
      *std::max_element(result.error_bounds.begin(), result.error_bounds.end()) < 1e-6;
  EXPECT_EQ(result.inverse_reaches_more_digits, !certain) << result.reason;
  EXPECT_EQ(result.reason.find("filter: inverse") != std::string::npos, !certain);
}

/// Seven large values, five of them nearly equal, of which a block of four finds some after it has
/// locked others. Locked vectors and guard vectors share parts of nearly equal eigenvectors.
TEST(LobpcgDigits, NearCopiesBehindLockedOnesLieWithinTheirBounds) {
  constexpr Index n = 300;
  std::vector<double> truth(n);
  for (Index i = 0; i < n; ++i)
    truth[static_cast<std::size_t>(i)] = 8 - 8.0 * static_cast<double>(i) / n;
  const std::vector<double> large{5497008.325924482, 5497008.325924476, 916171.387658324,
                                  916171.387658323,  916171.3876583225, 916171.3876581057,
                                  916171.3876572325};
  std::copy(large.begin(), large.end(), truth.begin());
  std::vector<Triplet<double>> triplets;
  for (Index i = 0; i < n; ++i) triplets.push_back({i, i, truth[static_cast<std::size_t>(i)]});
  HostContext context(1);
  SparseOperator<double, HostContext> A(context,
                                        csr_from_triplets<double>(context, n, n, triplets));
  LobpcgOptions options{{.nev = 6, .which = Which::largest}};
  options.block_size = 4;
  for (options.seed = 0; options.seed < 40; ++options.seed) {
    const auto result = lobpcg<double, HostContext>(context, {.A = &A}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (std::size_t j = 0; j < 6; ++j) {
      EXPECT_NEAR(result.eigenvalues[j], truth[j], result.error_bounds[j])
          << "value " << j << ", seed " << options.seed;
    }
  }
}

/// 60 copies of 1 beside a grid of 20×20 masses with springs of 10⁴ to 10⁷. Residuals of the copies
/// fall far below the rounding of the grid, with plateaus, and must stay there after the search.
TEST(LobpcgDigits, CopiesInSoftRowsGetDigits) {
  constexpr Index kSide = 20, kCopies = 60, n = kSide * kSide + kCopies;
  std::mt19937 bits(2);
  std::vector<Triplet<double>> entries;
  const auto spring = [&](Index i, Index j) {
    const double k = std::pow(10, 4 + 3 * static_cast<double>(bits()) / std::mt19937::max());
    entries.push_back({i, i, k});
    if (j < 0) return;  // to the ground
    for (const auto& [row, col, value] : {Triplet<double>{j, j, k}, {i, j, -k}, {j, i, -k}})
      entries.push_back({row, col, value});
  };
  for (Index i = 0; i < kSide * kSide; ++i) {
    if (i < kSide) spring(i, -1);
    if (i + kSide < kSide * kSide) spring(i, i + kSide);
    if (i % kSide + 1 < kSide) spring(i, i + 1);
  }
  for (Index i = kSide * kSide; i < n; ++i) entries.push_back({i, i, 1});
  HostContext context(1);
  SparseOperator<double, HostContext> A(context, csr_from_triplets<double>(context, n, n, entries));
  JacobiPreconditioner<double, HostContext> jacobi(context, A.matrix());
  LobpcgOptions options;
  options.nev = 10;
  int converged = 0;  // rounding decides which solves end without the digits, and say so
  for (options.seed = 0; options.seed < 4; ++options.seed) {
    const auto result =
        lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &jacobi}, options);
    if (result.status != SolveStatus::converged) continue;
    ++converged;
    for (std::size_t j = 0; j < 10; ++j) {
      EXPECT_NEAR(result.eigenvalues[j], 1, result.error_bounds[j]);
      EXPECT_LE(result.error_bounds[j], 1e-6);
    }
  }
  EXPECT_GE(converged, 1);
}

/// Where no step improves the values any more, LOBPCG says so and names what would.
TEST(LobpcgDigits, NamesWhatWouldReachMoreDigits) {
  HostContext context(2);
  const test::StiffProblem problem = test::stiff_problems()[0];  // one stiff spring
  SparseOperator<double, HostContext> A(context, problem.matrix(context));
  LobpcgOptions options;
  options.nev = 5;
  options.max_iterations = 60;
  const auto result = lobpcg<double, HostContext>(context, {.A = &A}, options);
  ASSERT_EQ(result.status, SolveStatus::max_iterations) << result.reason;
  EXPECT_NE(result.reason.find("filter: inverse"), std::string::npos) << result.reason;
}

}  // namespace
}  // namespace heddle
