#include <gtest/gtest.h>

#include <cmath>
#include <heddle/drivers/plan/held_rows.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <utility>

namespace heddle {
namespace {

detail::HeldRows held_rows(HostContext& context, const Problem& problem) {
  return {
      context, problem.A, problem.rhs, detail::shape_of(problem, 1), {.method = Method::block_cg}};
}

/// Unit springs between neighbours on a grid of `length`×`width` nodes. Those of the first column
/// of nodes are held at 3 by springs of stiffness `tgv`, those of the last at −1, so that the
/// solution is linear along the grid: the flux through all springs of a line is the same.
struct HeldGrid {
  Index length = 0, width = 1;
  double tgv = 0;
  double stiffness = 1;  // of the springs between nodes

  static constexpr double kFirst = 3, kLast = -1;

  Matrix matrix(HostContext& context) const {
    std::vector<Triplet<double>> entries;
    const auto spring = [&](Index i, Index j) {
      for (const auto& [row, column, sign] :
           {std::tuple{i, i, 1}, std::tuple{j, j, 1}, std::tuple{i, j, -1}, std::tuple{j, i, -1}}) {
        entries.push_back({row, column, sign * stiffness});
      }
    };
    for (Index i = 0; i < length; ++i) {
      for (Index k = 0; k < width; ++k) {
        if (i + 1 < length) spring(i * width + k, (i + 1) * width + k);
        if (k + 1 < width) spring(i * width + k, i * width + k + 1);
        if (i == 0 || i == length - 1) entries.push_back({i * width + k, i * width + k, tgv});
      }
    }
    return Matrix(csr_from_triplets<double>(context, length * width, length * width, entries));
  }

  /// Column j is j + 1 times the first one.
  Block rhs(HostContext& context, Index columns) const {
    MultiVector<double, HostSpace> B(context, length * width, columns);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < length * width; ++i) {
        const Index place = i / width;
        const double g = place == 0 ? kFirst : place == length - 1 ? kLast : 0;
        B.view()(i, j) = static_cast<double>(j + 1) * tgv * g;
      }
    }
    return Block(std::move(B));
  }

  double solution(Index row) const {
    const double flux = (kFirst - kLast) / (static_cast<double>(length - 1) / stiffness + 2 / tgv);
    return kFirst - flux / tgv - flux / stiffness * static_cast<double>(row / width);
  }

  double error(const Solution& found) const {
    double worst = 0;
    const auto X = std::get<Block>(found.vectors).view();
    for (Index j = 0; j < X.cols(); ++j) {
      for (Index i = 0; i < X.rows(); ++i) {
        const double factor = static_cast<double>(j + 1);
        worst = std::max(worst, std::abs(X(i, j) / factor - solution(i)));
      }
    }
    return worst;
  }
};

constexpr double kStiffness[] = {1e3, 1e6, 1e8, 1e12, 1e20, 1e30};

TEST(HeldRows, OfAnySizeGiveTheSolutionByDefault) {
  HostContext context(1);
  for (const auto& [length, width] : {std::pair<Index, Index>{3, 1}, {40, 1}, {400, 1}, {30, 12}}) {
    for (const double tgv : kStiffness) {
      for (const Index columns : {1, 5}) {
        const HeldGrid grid{length, width, tgv};
        const Solution found =
            solve({.A = grid.matrix(context), .rhs = grid.rhs(context, columns)});
        ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
        EXPECT_LE(grid.error(found), 1e-6) << length << "x" << width << ", " << tgv;
        EXPECT_NE(found.reason.find(std::to_string(2 * width) + " rows are held"),
                  std::string::npos)
            << found.reason;
      }
    }
  }
}

TEST(HeldRows, WithEveryPreconditionerAndPrecision) {
  HostContext context(1);
  for (const double tgv : {1e5, 1e14, 1e30}) {
    const HeldGrid grid{20, 10, tgv};
    const Problem problem{.A = grid.matrix(context), .rhs = grid.rhs(context, 3)};
    for (const char* name :
         {"none", "jacobi", "chebyshev", "block_jacobi", "incomplete_cholesky", "multigrid"}) {
      for (const Precision precision : {Precision::full, Precision::mixed}) {
        const Solution found =
            solve(problem, {.preconditioner = {.type = name}, .precision = precision});
        ASSERT_EQ(found.status, SolveStatus::converged) << name << ": " << found.reason;
        EXPECT_LE(grid.error(found), 1e-6) << name << ", " << tgv;
      }
    }
    for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
      const Solution found =
          solve(problem, {.algorithm = algorithm, .preconditioner = {.type = "jacobi"}});
      ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
      EXPECT_LE(grid.error(found), 1e-6) << tgv;
    }
  }
}

TEST(HeldRows, InAnyUnit) {
  HostContext context(1);
  for (const double stiffness : {1e-200, 1e-9, 1e9, 1e200}) {
    HeldGrid grid{60, 1, 1e12 * stiffness, stiffness};
    const Solution found = solve({.A = grid.matrix(context), .rhs = grid.rhs(context, 2)});
    ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
    EXPECT_LE(grid.error(found), 1e-6) << stiffness;
  }
}

/// A stored preconditioner of the caller, its product as a function, or none, with and without a
/// guess.
TEST(HeldRows, WithAGuessAndAPreconditionerOfTheCaller) {
  HostContext context(1);
  for (const double tgv : {1e8, 1e14, 1e30}) {
    const HeldGrid grid{50, 1, tgv};
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < 50; ++i) entries.push_back({i, i, i == 0 || i == 49 ? 1 / tgv : .5});
    const Matrix stored(csr_from_triplets<double>(context, 50, 50, entries));
    const Matrix function(50, 50, [&](auto X, auto Y) {
      for (Index i = 0; i < 50; ++i) {
        for (Index j = 0; j < X.cols(); ++j) {
          Y(i, j) = entries[static_cast<std::size_t>(i)].value * X(i, j);
        }
      }
    });
    MultiVector<double, HostSpace> guess(context, 50, 2);
    for (Index i = 0; i < 50; ++i) {
      for (Index j = 0; j < 2; ++j) guess.view()(i, j) = 1.001 * grid.solution(i);
    }
    for (const std::optional<Matrix>& M : {std::optional<Matrix>{}, {stored}, {function}}) {
      for (const bool guessed : {false, true}) {
        Problem problem{.A = grid.matrix(context), .rhs = grid.rhs(context, 2)};
        problem.preconditioner = M;
        if (guessed) problem.initial_guess = Block(std::as_const(guess).view());
        const Solution found = solve(problem);
        ASSERT_EQ(found.status, SolveStatus::converged) << tgv << ": " << found.reason;
        EXPECT_LE(grid.error(found), 1e-6) << tgv;
      }
    }
  }
}

/// b_F drives the solution, and nothing is said or changed.
TEST(HeldRows, ThatDoNotDominateAreLeftAlone) {
  HostContext context(1);
  const HeldGrid grid{50, 1, 1e12};
  Problem problem{.A = grid.matrix(context), .rhs = grid.rhs(context, 1)};
  MultiVector<double, HostSpace> B(context, 50, 1);
  for (Index i = 0; i < 50; ++i) B.view()(i, 0) = 1;
  problem.rhs = Block(std::move(B));
  EXPECT_TRUE(held_rows(context, problem).empty());
  const Solution found = solve(problem);
  EXPECT_EQ(found.reason.find("held"), std::string::npos) << found.reason;
}

/// A row between stiff neighbours that are not held is not held, however weakly it is coupled, and
/// so on along the chain.
TEST(HeldRows, AreNotThoseOfAChainBesideARowOfTheirSize) {
  HostContext context(1);
  constexpr Index kOrder = 100000;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < kOrder; ++i) {
    entries.push_back({i, i, 1000});
    if (i == 0) continue;
    const double coupling = i + 1 == kOrder ? -900 : -1;
    entries.push_back({i, i - 1, coupling});
    entries.push_back({i - 1, i, coupling});
  }
  Problem problem{.A = Matrix(csr_from_triplets<double>(context, kOrder, kOrder, entries))};
  std::vector<double> b(kOrder, 0);
  b[0] = 1000;
  problem.rhs = Block(kOrder, 1, b);
  EXPECT_TRUE(held_rows(context, problem).empty());
}

TEST(HeldRows, AreNotFoundInDiagonalMatrices) {
  HostContext context(1);
  Problem problem{.A = Matrix(csr_from_triplets<double>(
                      context, 2, 2, std::vector<Triplet<double>>{{0, 0, 1}, {1, 1, 1e12}}))};
  const std::vector<double> b{1, 1e12};
  problem.rhs = Block(2, 1, b);
  EXPECT_TRUE(held_rows(context, problem).empty());
}

}  // namespace
}  // namespace heddle
