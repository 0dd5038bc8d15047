#include <gtest/gtest.h>

#include <cmath>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <numbers>
#include <utility>

namespace heddle {
namespace {

constexpr Index kNodes = 60;

/// A line of unit springs without a support. Its eigenvectors are cos(π k (i + ½)/n), with the
/// eigenvalues 4 sin²(π k/2n).
Matrix line(HostContext& context) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i + 1 < kNodes; ++i) {
    for (const Index end : {i, i + 1}) {
      entries.push_back({end, end, 1});
      entries.push_back({end, 2 * i + 1 - end, -1});
    }
  }
  return Matrix(csr_from_triplets<double>(context, kNodes, kNodes, entries));
}

double wave(Index i) {
  return std::cos(3 * std::numbers::pi * (static_cast<double>(i) + .5) / kNodes);
}

/// The third eigenvector, and `part` times its norm along the constant vector.
Block rhs(HostContext& context, double part) {
  MultiVector<double, HostSpace> B(context, kNodes, 2);
  for (Index i = 0; i < kNodes; ++i) {
    B.view()(i, 0) = wave(i) + part * std::sqrt(.5);  // ‖wave‖² = n/2
    B.view()(i, 1) = 2 * wave(i);
  }
  return Block(std::move(B));
}

/// The largest distance of a column from the solution of the system without the constant part, up
/// to a constant.
double error(const Solution& found) {
  const auto X = std::get<Block>(found.vectors).view();
  const double angle = 3 * std::numbers::pi / (2 * kNodes);
  const double value = 4 * std::sin(angle) * std::sin(angle);
  double worst = 0;
  for (Index j = 0; j < 2; ++j) {
    const auto exact = [&](Index i) { return static_cast<double>(j + 1) * wave(i) / value; };
    for (Index i = 0; i < kNodes; ++i) {
      worst = std::max(worst, std::abs(X(i, j) - exact(i) - (X(0, j) - exact(0))));
    }
  }
  return worst;
}

constexpr const char* kPreconditioners[] = {"auto", "none", "jacobi", "multigrid"};

TEST(ConsistentRhs, APartAlongNullVectorsIsNamedAndTheBestSolutionKept) {
  HostContext context(1);
  for (const double part : {1.0, 1e-3, 1e-6}) {
    const Problem problem{.A = line(context), .rhs = rhs(context, part)};
    for (const char* name : kPreconditioners) {
      const Solution found = solve(problem, {.preconditioner = {.type = name}});
      EXPECT_EQ(found.status, SolveStatus::breakdown) << name << found.reason;
      EXPECT_LE(error(found), 1e-5) << name;
      const double relative = part / std::hypot(1, part);
      EXPECT_NEAR(found.residuals.at(0), relative, 1e-2 * relative) << name;
      EXPECT_LE(found.residuals.at(1), 1e-8) << name;
      EXPECT_FALSE(found.converged.at(0));
      EXPECT_TRUE(found.converged.at(1));
      EXPECT_NE(found.reason.find("null vectors; x solves"), std::string::npos) << found.reason;
      EXPECT_NE(found.reason.find("project_rhs: true"), std::string::npos) << found.reason;
    }
  }
}

TEST(ConsistentRhs, ProjectRhsRemovesThePart) {
  HostContext context(1);
  for (const double part : {1.0, 1e-6, 1e-10}) {
    const Problem problem{.A = line(context), .rhs = rhs(context, part)};
    for (const char* name : kPreconditioners) {
      const Solution found =
          solve(problem, {.project_rhs = true, .preconditioner = {.type = name}});
      ASSERT_EQ(found.status, SolveStatus::converged) << name << found.reason;
      EXPECT_LE(error(found), 1e-5) << name;
      EXPECT_NE(found.reason.find("removed from b, as asked"), std::string::npos) << found.reason;
    }
  }
}

TEST(ConsistentRhs, PartsWithinTheToleranceAreNoTrouble) {
  HostContext context(1);
  for (const double part : {0.0, 1e-15, 1e-10, 4e-9}) {
    const Problem problem{.A = line(context), .rhs = rhs(context, part)};
    for (const char* name : kPreconditioners) {
      const Solution found = solve(problem, {.preconditioner = {.type = name}});
      EXPECT_EQ(found.status, SolveStatus::converged) << name << part << found.reason;
      EXPECT_LE(error(found), 1e-5) << name;
      EXPECT_LE(found.residuals.at(0), 1e-8);
    }
  }
}

TEST(ConsistentRhs, APartAlongNullVectorsAlone) {
  HostContext context(1);
  const std::vector<double> twos(kNodes, 2.0);
  const Problem problem{.A = line(context), .rhs = Block(kNodes, 1, twos)};
  const Solution found = solve(problem);
  EXPECT_EQ(found.status, SolveStatus::breakdown) << found.reason;
  EXPECT_NEAR(found.residuals.at(0), 1, 1e-14);
  const Solution projected = solve(problem, {.project_rhs = true});
  EXPECT_EQ(projected.status, SolveStatus::converged) << projected.reason;
  const auto x = std::get<Block>(projected.vectors).view();
  for (Index i = 0; i < kNodes; ++i) EXPECT_EQ(x(i, 0), x(0, 0));
}

/// Quadratic elements have positive entries beside the diagonal, so that the graph shows nothing.
TEST(ConsistentRhs, OfANeumannProblemByFiniteElements) {
  HostContext context(1);
  constexpr Index kElements = 30, n = 2 * kElements + 1;
  constexpr double kElement[3][3] = {{7, -8, 1}, {-8, 16, -8}, {1, -8, 7}};
  std::vector<Triplet<double>> entries;
  MultiVector<double, HostSpace> B(context, n, 1);
  for (Index i = 0; i < n; ++i) B.view()(i, 0) = i == 0 ? 1 : i == n - 1 ? -1.001 : 0;
  for (Index e = 0; e < kElements; ++e) {
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) entries.push_back({2 * e + i, 2 * e + j, kElement[i][j]});
    }
  }
  Problem problem{.A = Matrix(csr_from_triplets<double>(context, n, n, entries))};
  problem.rhs = Block(std::move(B));
  const Solution found = solve(problem);
  EXPECT_EQ(found.status, SolveStatus::breakdown) << found.reason;
  EXPECT_NE(found.reason.find("project_rhs: true"), std::string::npos) << found.reason;
  EXPECT_EQ(solve(problem, {.project_rhs = true}).status, SolveStatus::converged);
}

TEST(ConsistentRhs, SaysWhereNoNullVectorIsKnown) {
  HostContext context(1);
  Problem problem{.A = Matrix(csr_from_triplets<double>(
                      context, 2, 2, std::vector<Triplet<double>>{{0, 0, 1}, {1, 1, 3}}))};
  const std::vector<double> ones{1, 1};
  problem.rhs = Block(2, 1, ones);
  const Solution found = solve(problem, {.project_rhs = true});
  EXPECT_EQ(found.status, SolveStatus::converged);
  EXPECT_NE(found.reason.find("no null vector of A is known"), std::string::npos) << found.reason;
}

}  // namespace
}  // namespace heddle
