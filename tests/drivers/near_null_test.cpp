#include <gtest/gtest.h>

#include <cmath>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>

#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

/// A clamped elastic body with two right-hand sides.
class NearNull : public ::testing::Test {
 protected:
  Problem body() {
    Problem problem{.A = Matrix::generate(spec_)};
    MultiVector<double, HostSpace> R(context_, problem.A.rows(), 2);
    for (Index i = 0; i < R.rows(); ++i) {
      for (Index j = 0; j < 2; ++j) R.view()(i, j) = std::sin(static_cast<double>(i * i % 977 + j));
    }
    problem.rhs = Block(std::move(R));
    return problem;
  }
  Block positions() { return Block(node_coordinates(context_, spec_)); }
  static Solution solved(const Problem& problem) {
    return solve(problem, {.method = Method::block_cg,
                           .tolerance = 1e-8,
                           .preconditioner = {.type = "multigrid"},
                           .device = DeviceChoice::host});
  }
  std::string refusal(const Problem& problem) {
    try {
      solved(problem);
    } catch (const ProblemError& error) {
      return error.what();
    }
    return "";
  }

  HostContext context_;
  const GallerySpec spec_{"elasticity3d", {10, 9, 9}};
};

TEST_F(NearNull, CoordinatesBecomeMotionsWhichSaveIterations) {
  Problem problem = body();
  const Solution without = solved(problem);
  ASSERT_EQ(without.status, SolveStatus::converged);
  problem.coordinates = positions();
  const Solution with = solved(problem);
  ASSERT_EQ(with.status, SolveStatus::converged);
  EXPECT_LE(with.iterations, 10);
  EXPECT_LT(with.iterations, without.iterations);
  ASSERT_GT(with.preconditioner_levels.size(), 1U);
  EXPECT_EQ(with.preconditioner_levels[0].rows, problem.A.rows());
  EXPECT_EQ(with.preconditioner_levels[1].rows, 6 * with.preconditioner_levels[0].aggregates);
  EXPECT_EQ(with.preconditioner_levels.back().aggregates, 0);
}

TEST_F(NearNull, ABlockOfTheCallersDoesTheSame) {
  Problem problem = body();
  problem.coordinates = positions();
  const Index iterations = solved(problem).iterations;
  MultiVector<double, HostSpace> X(context_, problem.A.rows(), 6);
  for (Index node = 0; node < X.rows() / 3; ++node) {
    const double x = positions().view()(node, 0), y = positions().view()(node, 1),
                 z = positions().view()(node, 2);
    const double motions[3][6] = {{1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}, {0, 0, 1, y, -x, 0}};
    for (Index k = 0; k < 3; ++k) {
      for (Index j = 0; j < 6; ++j) X.view()(3 * node + k, j) = motions[k][j];
    }
  }
  problem.coordinates = {};
  problem.near_null = Block(std::move(X));
  EXPECT_LE(std::abs(solved(problem).iterations - iterations), 1);
}

TEST_F(NearNull, ThatIsHugeOrTinyCountsAsItsDirection) {
  Problem problem = body();
  std::vector<Index> iterations;
  for (const double size : {1.0, 0x1p1020, 0x1p-1020}) {
    MultiVector<double, HostSpace> X(context_, problem.A.rows(), 3);
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < 3; ++j) X.view()(i, j) = i % 3 == j ? size : 0;
    }
    problem.near_null = Block(std::move(X));
    iterations.push_back(solved(problem).iterations);
  }
  EXPECT_EQ(iterations, std::vector<Index>(3, iterations.front()));
}

TEST_F(NearNull, WhatDoesNotFitIsRefused) {
  Problem problem = body();
  problem.near_null = Block(MultiVector<double, HostSpace>(context_, 7, 1));
  EXPECT_NE(refusal(problem).find("near_null: the block has 7 rows"), std::string::npos);
  problem.coordinates = positions();
  EXPECT_NE(refusal(problem).find("leave one of both out"), std::string::npos);
  problem.coordinates = {};
  MultiVector<double, HostSpace> zeros(context_, problem.A.rows(), 2);
  set_zero<double>(context_, zeros.view());
  problem.near_null = Block(std::move(zeros));
  EXPECT_NE(refusal(problem).find("near_null: all entries are zero"), std::string::npos);
  problem.near_null = {};
  problem.coordinates = Block(MultiVector<double, HostSpace>(context_, problem.A.rows(), 3));
  EXPECT_NE(refusal(problem).find("coordinates: the positions are 3000 x 3"), std::string::npos);
  MultiVector<double, HostSpace> X(context_, problem.A.rows() / 3, 3);
  X.view()(4, 1) = std::numeric_limits<double>::quiet_NaN();
  problem.coordinates = Block(std::move(X));
  EXPECT_NE(refusal(problem).find("row 5, column 2 is not finite"), std::string::npos);
}

/// A ring of n vertices, whose Laplacian maps ones to zero.
Matrix ring(HostContext& context, Index n, double shift) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 2 + shift});
    entries.push_back({i, (i + 1) % n, -1});
    entries.push_back({(i + 1) % n, i, -1});
  }
  return Matrix(csr_from_triplets<double>(context, n, n, entries));
}

TEST(Multigrid, SemidefiniteMatricesAreHandledAndShiftedOnesRefusedWithTheReason) {
  HostContext context;
  const Index n = 4000;
  MultiVector<double, HostSpace> R(context, n, 1);
  for (Index i = 0; i < n; ++i) R.view()(i, 0) = i < n / 2 ? 1 : -1;  // orthogonal to ones
  Problem problem{.A = ring(context, n, 0), .rhs = Block(std::move(R))};
  Request request{.method = Method::block_cg,
                  .preconditioner = {.type = "multigrid"},
                  .device = DeviceChoice::host};
  const Solution semidefinite = solve(problem, request);
  EXPECT_EQ(semidefinite.status, SolveStatus::converged) << semidefinite.reason;
  EXPECT_LE(semidefinite.iterations, 20);
  problem.A = ring(context, n, -1);
  try {
    solve(problem, request);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("must be positive semidefinite"), std::string::npos);
  }
  // LOBPCG serves indefinite matrices, for which auto stays with chebyshev.
  const Solution shifted =
      solve({.A = ring(context, 1000, -1)},
            {.method = Method::lobpcg, .nev = 3, .device = DeviceChoice::host});
  EXPECT_EQ(shifted.status, SolveStatus::converged) << shifted.reason;
  EXPECT_EQ(shifted.preconditioner_name, "chebyshev of A, degree auto");
  EXPECT_NE(shifted.preconditioner_reason.find("not positive"), std::string::npos)
      << shifted.preconditioner_reason;
  EXPECT_NEAR(shifted.eigenvalues[0], -1, 1e-7);
}

TEST(AutomaticPreconditioner, OfALinearSystemFollowsItsCondition) {
  const auto of = [](const GallerySpec& spec) {
    HostContext context;
    Problem problem{.A = Matrix::generate(spec)};
    MultiVector<double, HostSpace> R(context, problem.A.rows(), 8);
    for (Index i = 0; i < R.rows(); ++i) {
      for (Index j = 0; j < 8; ++j) R.view()(i, j) = std::cos(static_cast<double>(i % 911 * j + i));
    }
    problem.rhs = Block(std::move(R));
    return solve(problem, {.method = Method::block_cg, .device = DeviceChoice::host});
  };
  const Solution ill = of({"laplace2d", {160, 160}});
  EXPECT_EQ(ill.status, SolveStatus::converged);
  EXPECT_EQ(ill.preconditioner_name, "multigrid of A, degree 3") << ill.preconditioner_reason;
  EXPECT_LE(ill.iterations, 12);
  const Solution better = of({"laplace3d", {14, 14, 14}});
  EXPECT_EQ(better.status, SolveStatus::converged);
  EXPECT_EQ(better.preconditioner_name, "chebyshev of A, degree auto")
      << better.preconditioner_reason;
  EXPECT_NE(better.preconditioner_reason.find("too small for multigrid"), std::string::npos);
  const Solution well = of({"trefethen", {5000}});
  EXPECT_EQ(well.status, SolveStatus::converged);
  EXPECT_EQ(well.preconditioner_name, "jacobi of A") << well.preconditioner_reason;
  EXPECT_NE(well.preconditioner_reason.find("the diagonal suffices"), std::string::npos);
  EXPECT_EQ(well.preconditioner_precision.reason, "jacobi has no form in single precision");
  EXPECT_LE(well.iterations, 20);
}

TEST(AutomaticPreconditioner, OfEigenpairsIsTheDiagonalWhereTheConditionIsGood) {
  const Problem problem{.A = Matrix::generate({"trefethen", {5000}})};
  Request request{
      .method = Method::lobpcg, .nev = 4, .certify = Certify::no, .device = DeviceChoice::host};
  const Solution well = solve(problem, request);
  EXPECT_EQ(well.status, SolveStatus::converged) << well.reason;
  EXPECT_EQ(well.preconditioner_name, "jacobi of A") << well.preconditioner_reason;
  EXPECT_NE(well.preconditioner_reason.find("the diagonal suffices"), std::string::npos);
  request.preconditioner.precision = PreconditionerPrecision::single;  // which jacobi lacks
  const Solution single = solve(problem, request);
  EXPECT_EQ(single.status, SolveStatus::converged) << single.reason;
  EXPECT_EQ(single.preconditioner_name, "chebyshev of A, degree auto");
  EXPECT_NEAR(single.eigenvalues[0], well.eigenvalues[0], 1e-6);
}

/// The solution for the right-hand side b_i = cos(i² mod 911).
Solution solve_one_column(const GallerySpec& spec, Request request = {}) {
  HostContext context;
  Problem problem{.A = Matrix::generate(spec)};
  MultiVector<double, HostSpace> b(context, problem.A.rows(), 1);
  for (Index i = 0; i < b.rows(); ++i) b.view()(i, 0) = std::cos(static_cast<double>(i * i % 911));
  problem.rhs = Block(std::move(b));
  request.method = Method::block_cg;
  request.device = DeviceChoice::host;
  return solve(problem, request);
}

/// A complete factor leaves one or two iterations, whatever the condition number.
TEST(AutomaticPreconditioner, IsACompleteFactorWhereThatCostsLessThanItsIterations) {
  HostContext context;
  // A chain of springs that is held at one end.
  constexpr Index n = 3000;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i + 1 < n; ++i) {
    entries.insert(entries.end(), {{i, i, 1}, {i + 1, i + 1, 1}, {i, i + 1, -1}, {i + 1, i, -1}});
  }
  entries.push_back({0, 0, 1});
  const Matrix A(csr_from_triplets<double>(context, n, n, entries));
  for (const Index columns : {1, 8}) {
    Problem problem{.A = A};
    MultiVector<double, HostSpace> R(context, n, columns);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < columns; ++j)
        R.view()(i, j) = std::cos(static_cast<double>((i + j) * i % 911));
    }
    problem.rhs = Block(std::move(R));
    const Solution solution =
        solve(problem, {.method = Method::block_cg, .device = DeviceChoice::host});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    EXPECT_EQ(solution.preconditioner_name, "cholesky of A") << solution.preconditioner_reason;
    EXPECT_NE(solution.preconditioner_reason.find("complete factor"), std::string::npos);
    EXPECT_LE(solution.iterations, columns == 1 ? 100 : 3);
    EXPECT_LE(solution.residuals[0], 1e-8);
  }
}

/// A matrix that is not definite has no factor: what there is goes on, as without the choice.
TEST(AutomaticPreconditioner, IsNoFactorOfAnIndefiniteMatrix) {
  HostContext context;
  constexpr Index n = 3000;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, i + 1 == n ? -1e-3 : 1 + 1e4 * static_cast<double>(i % 17 == 0)});
    if (i + 1 < n) entries.insert(entries.end(), {{i, i + 1, -.5}, {i + 1, i, -.5}});
  }
  MultiVector<double, HostSpace> b(context, n, 1);
  for (Index i = 0; i < n; ++i) b.view()(i, 0) = std::cos(static_cast<double>(i * i % 911));
  const Solution solution = solve(
      {.A = Matrix(csr_from_triplets<double>(context, n, n, entries)), .rhs = Block(std::move(b))},
      {.method = Method::block_cg, .device = DeviceChoice::host});
  EXPECT_NE(solution.preconditioner_name, "cholesky of A");
  EXPECT_NE(solution.status, SolveStatus::converged);
}

TEST(AutomaticPreconditioner, OfOneColumnBeginsWithTheDiagonal) {
  const Solution brief = solve_one_column({"trefethen", {5000}});
  EXPECT_EQ(brief.status, SolveStatus::converged);
  EXPECT_EQ(brief.preconditioner_name, "jacobi of A") << brief.preconditioner_reason;
  EXPECT_NE(brief.preconditioner_reason.find("too few steps"), std::string::npos);
  const Solution longer = solve_one_column({"laplace2d", {30, 30}});
  EXPECT_EQ(longer.status, SolveStatus::converged);
  EXPECT_EQ(longer.preconditioner_name, "jacobi of A") << longer.preconditioner_reason;
  EXPECT_NE(longer.preconditioner_reason.find("more steps, too few"), std::string::npos);
  EXPECT_EQ(longer.preconditioner_precision.reason, "jacobi has no form in single precision");
}

TEST(AutomaticPreconditioner, OfOneColumnChangesWhereItsStepsAreMany) {
  const Solution large = solve_one_column({"laplace2d", {200, 200}});
  EXPECT_EQ(large.status, SolveStatus::converged);
  EXPECT_EQ(large.preconditioner_name, "multigrid of A, degree 3") << large.preconditioner_reason;
  EXPECT_EQ(large.preconditioner_precision.precision, "single");
  EXPECT_GT(large.preconditioner_levels.size(), 1U);
  EXPECT_LE(large.iterations, 120);
  EXPECT_LE(large.residuals[0], 1e-8);
  const Solution small = solve_one_column({"laplace1d", {1000}});
  EXPECT_EQ(small.status, SolveStatus::converged);
  EXPECT_EQ(small.preconditioner_name, "cholesky of A") << small.preconditioner_reason;
  EXPECT_LE(small.iterations, 60);
  for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    const Solution either = solve_one_column({"laplace1d", {1000}}, {.algorithm = algorithm});
    EXPECT_EQ(either.preconditioner_reason, small.preconditioner_reason);
    EXPECT_NEAR(static_cast<double>(either.iterations), static_cast<double>(small.iterations), 2);
  }
}

/// Springs of 1e8 and 1 in turn, the first pulled by 1e8: one step of CG with the diagonal brings
/// ‖r‖ to 1e-8‖b‖ with a single row at its place. x falls by 1/100 at each soft spring.
TEST(AutomaticPreconditioner, TakesOverWhereTheFirstOneLeavesNoDigits) {
  HostContext context(1);
  constexpr Index kOrder = 200;
  const auto stiffness = [](Index spring) { return spring % 2 == 0 ? 1e8 : 1; };
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < kOrder; ++i) {
    entries.push_back({i, i, stiffness(i) + stiffness(i + 1)});
    if (i > 0) entries.push_back({i, i - 1, -stiffness(i)});
    if (i > 0) entries.push_back({i - 1, i, -stiffness(i)});
  }
  std::vector<double> b(kOrder);
  b[0] = 1e8;
  Problem problem{.A = Matrix(csr_from_triplets<double>(context, kOrder, kOrder, entries)),
                  .rhs = Block(kOrder, 1, b)};
  const Solution found = solve(problem, {.device = DeviceChoice::host});
  ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
  EXPECT_LE(found.iterations, 60);
  for (Index i = 0; i < kOrder; ++i) {
    EXPECT_NEAR(std::get<Block>(found.vectors).view()(i, 0), 1 - .01 * double((i + 1) / 2), 1e-4);
  }
}

TEST(AutomaticPreconditioner, OfEigenpairsFollowsTheirSize) {
  Request request{.method = Method::lobpcg, .nev = 4, .device = DeviceChoice::host};
  const std::vector<Index> large{150, 160}, small{12, 13};
  const Solution far = solve({.A = Matrix::generate({"laplace2d", large})}, request);
  EXPECT_EQ(far.status, SolveStatus::converged);
  EXPECT_EQ(far.preconditioner_name, "multigrid of A, degree 3") << far.preconditioner_reason;
  EXPECT_GT(far.preconditioner_levels.size(), 1U);
  const std::vector<double> exact = laplace_smallest_eigenvalues(large, 4);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(far.eigenvalues[k], exact[k], 1e-7 * exact[k]);
  const Solution near = solve({.A = Matrix::generate({"laplace2d", small})}, request);
  EXPECT_EQ(near.preconditioner_name, "chebyshev of A, degree auto");
  EXPECT_NE(near.preconditioner_reason.find("too small for multigrid"), std::string::npos)
      << near.preconditioner_reason;
  request.preconditioner.options = {{"degree", Index{12}}};  // an option of chebyshev
  const Solution fixed = solve({.A = Matrix::generate({"laplace2d", large})}, request);
  EXPECT_EQ(fixed.preconditioner_name, "chebyshev of A, degree 12");
  EXPECT_EQ(fixed.preconditioner_reason, "");
}

/// Two grids without a common edge: the Laplacian of a free one with `free` points per side, which
/// maps ones to zero, and that of a clamped one with `clamped`, which has no null vector.
Matrix free_and_clamped_grid(HostContext& context, Index free, Index clamped) {
  std::vector<Triplet<double>> entries;
  Index first = 0;
  for (const Index side : {free, clamped}) {
    for (Index i = 0; i < side * side; ++i) {
      const Index x = i % side, y = i / side;
      Index neighbours = 0;
      const auto join = [&](Index j) {
        entries.push_back({first + i, first + j, -1});
        ++neighbours;
      };
      if (x > 0) join(i - 1);
      if (x + 1 < side) join(i + 1);
      if (y > 0) join(i - side);
      if (y + 1 < side) join(i + side);
      const Index degree = first == 0 ? neighbours : 4;
      entries.push_back({first + i, first + i, static_cast<double>(degree)});
    }
    first += side * side;
  }
  return Matrix(csr_from_triplets<double>(context, first, first, entries));
}

TEST(Multigrid, TakesTheNullVectorsThatTheGraphShowsAndOnesElsewhere) {
  HostContext context;
  Problem problem{.A = free_and_clamped_grid(context, 40, 50)};
  const Request request{.method = Method::lobpcg,
                        .nev = 4,
                        .preconditioner = {.type = "multigrid"},
                        .device = DeviceChoice::host};
  const Solution shown = solve(problem, request);
  MultiVector<double, HostSpace> ones(context, problem.A.rows(), 1);
  for (Index i = 0; i < ones.rows(); ++i) ones.view()(i, 0) = 1;
  problem.near_null = Block(std::move(ones));
  const Solution given = solve(problem, request);
  EXPECT_EQ(shown.status, SolveStatus::converged);
  EXPECT_EQ(shown.iterations, given.iterations);
  EXPECT_EQ(shown.eigenvalues, given.eigenvalues);
}

TEST(AutomaticPreconditioner, OfASingularLaplacianCountsTheOtherEigenvaluesOnly) {
  HostContext context;
  const Index free = 90, clamped = 140;
  const Solution found = solve({.A = free_and_clamped_grid(context, free, clamped)},
                               {.method = Method::lobpcg, .nev = 4, .device = DeviceChoice::host});
  EXPECT_EQ(found.status, SolveStatus::converged) << found.reason;
  EXPECT_EQ(found.preconditioner_name, "multigrid of A, degree 3") << found.preconditioner_reason;
  EXPECT_LE(found.iterations, 25);
  const double pi = std::acos(-1);
  const auto eigenvalue = [&](Index k, Index side) {
    const double s = std::sin(static_cast<double>(k) * pi / (2 * static_cast<double>(side)));
    return 4 * s * s;
  };
  const double first = eigenvalue(1, free);
  const std::vector<double> exact{0, 2 * eigenvalue(1, clamped + 1), first, first};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(found.eigenvalues[k], exact[k], 1e-7 * first);
}

/// The grid's Laplacian with +1 in place of −1, whose eigenvectors are those of the Laplacian with
/// the signs of a chessboard. Few steps of CG from a smooth right-hand side miss that it has small
/// eigenvalues. With the chessboard as near null vector multigrid serves it.
Problem chessboard(const std::shared_ptr<HostContext>& context, Index nx, Index ny) {
  HostCsrMatrix<double> A = generate<double>(*context, {"laplace2d", {nx, ny}});
  const auto rows = A.view();
  for (Index k = 0; k < rows.nnz; ++k) A.values()[k] = std::abs(rows.values[k]);
  MultiVector<double, HostSpace> signs(*context, nx * ny, 1);
  for (Index i = 0; i < nx * ny; ++i) signs.view()(i, 0) = (i % nx + i / nx) % 2 == 0 ? 1 : -1;
  return {.A = Matrix(std::move(A), context), .near_null = Block(std::move(signs), context)};
}

TEST(AutomaticPreconditioner, ChangesWithinASolveAndACheckpointKeepsTheChange) {
  const test::TemporaryFolder folder;
  const auto context = std::make_shared<HostContext>(1);
  const std::vector<Index> size{100, 104};
  const Problem problem = chessboard(context, size[0], size[1]);
  Request request{.method = Method::lobpcg, .nev = 4, .device = DeviceChoice::host};
  request.preconditioner.type = "auto";
  const Solution whole = solve(problem, request);
  EXPECT_EQ(whole.preconditioner_reason, "the wanted eigenvalues are small");
  EXPECT_EQ(whole.preconditioner_name, "multigrid of A, degree 3");
  const std::vector<double> exact = laplace_smallest_eigenvalues(size, 4);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(whole.eigenvalues[k], exact[k], 1e-7 * exact[k]);
  ASSERT_GT(whole.iterations, 12);
  request.checkpoint.file = folder.path() / "state";
  for (const Index stop : {Index{3}, Index{12}}) {  // before and after the change
    request.max_iterations = stop;
    request.checkpoint.resume = false;
    const Solution stopped = solve(problem, request);
    EXPECT_EQ(stopped.status, SolveStatus::max_iterations);
    EXPECT_EQ(stopped.preconditioner_levels.empty(), stop == 3) << stopped.preconditioner_name;
    request.max_iterations = 0;
    request.checkpoint.resume = true;
    const Solution resumed = solve(problem, request);
    EXPECT_EQ(resumed.iterations, whole.iterations);
    EXPECT_EQ(resumed.eigenvalues, whole.eigenvalues);
    EXPECT_EQ(resumed.preconditioner_name, "multigrid of A, degree 3");
  }
}

}  // namespace
}  // namespace heddle
