#include <gtest/gtest.h>

#include <cmath>
#include <heddle/drivers/inspect/null_space.hpp>
#include <heddle/drivers/solve.hpp>
#include <memory>
#include <string>
#include <vector>

#include "solvers/null_space/graphs.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

constexpr Index kOrder = 400;

Matrix graph(unsigned seed = 37) {
  const auto context = std::make_shared<HostContext>(1);
  const std::vector<test::Edge> parts = test::random_parts({130, 1, 130, 139}, seed);
  return {test::laplacian_of(*context, kOrder, parts), context};
}

Eigen::MatrixXd dense(const Matrix& A) { return test::to_dense(A.view()); }

/// Each value within its bound of the exact one, from number `first` on.
void expect_values(const Solution& solution, const Eigen::VectorXd& exact, Index nev,
                   double rounding = 1e-12) {
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  ASSERT_EQ(solution.count(), nev);
  for (Index j = 0; j < nev; ++j) {
    const auto place = static_cast<std::size_t>(j);
    EXPECT_NEAR(solution.eigenvalues[place], exact[j], solution.error_bounds[place] + rounding)
        << j;
  }
}

const std::vector<Method> kMethods = {Method::automatic, Method::lobpcg, Method::block_lanczos};

TEST(NullSpace, IsTheSolutionForEveryMethodAndPrecision) {
  const Matrix A = graph();
  const Eigen::VectorXd exact = test::eigenvalues(dense(A));
  for (const Method method : kMethods) {
    for (const Precision precision : {Precision::full, Precision::single, Precision::mixed}) {
      const Solution solution =
          solve({.A = A}, {.method = method, .nev = 4, .precision = precision});
      const double rounding = precision == Precision::single ? 1e-5 : 1e-12;
      expect_values(solution, exact, 4, rounding);
      EXPECT_EQ(solution.method, "null_space");
      EXPECT_EQ(solution.null_vectors, 4);
      EXPECT_EQ(solution.iterations, 0);
      EXPECT_NE(solution.reason.find("4 were known before the solve"), std::string::npos);
      EXPECT_EQ(solution.method_reason.empty(), method != Method::automatic);
    }
  }
}

/// The vectors are the components themselves, not some mixture of them.
TEST(NullSpace, VectorsHaveNoRowInCommon) {
  const Solution solution = solve({.A = graph()}, {.nev = 3});
  const auto X = std::get<Block>(solution.vectors).view();
  for (Index i = 0; i < kOrder; ++i) {
    int entries = 0;
    for (Index j = 0; j < 3; ++j) entries += X(i, j) != 0;
    EXPECT_LE(entries, 1) << i;
  }
}

TEST(NullSpace, IsKnownToEveryMethodThatFindsFurtherPairs) {
  const Matrix A = graph();
  const Eigen::VectorXd exact = test::eigenvalues(dense(A));
  for (const Method method : kMethods) {
    for (const Precision precision : {Precision::full, Precision::single, Precision::mixed}) {
      const Solution solution =
          solve({.A = A}, {.method = method, .nev = 7, .precision = precision});
      expect_values(solution, exact, 7, precision == Precision::single ? 1e-4 : 1e-12);
      EXPECT_EQ(solution.null_vectors, 4);
      EXPECT_NE(solution.reason.find("4 were known before the solve"), std::string::npos);
    }
  }
}

TEST(NullSpace, OfAPencilIsOrthonormalInTheMassMatrix) {
  HostContext context(1);
  const Matrix A = graph();
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < kOrder; ++i)
    entries.push_back({i, i, 2 + 1.0 / static_cast<double>(i + 1)});
  for (Index i = 0; i + 1 < kOrder; ++i) {
    entries.insert(entries.end(), {{i, i + 1, 0.5}, {i + 1, i, 0.5}});
  }
  const Matrix B(csr_from_triplets<double>(context, kOrder, kOrder, entries));
  const Eigen::VectorXd exact = test::eigenvalues(dense(A), dense(B));
  for (const Method method : kMethods) {
    for (const Index nev : {3, 6}) {
      const Solution solution = solve({.A = A, .B = B}, {.method = method, .nev = nev});
      expect_values(solution, exact, nev);
      EXPECT_EQ(solution.null_vectors, std::min<Index>(nev, 4));
      EXPECT_LE(solution.orthogonality, 1e-12);
    }
  }
}

TEST(NullSpace, IsLeftAloneWhereItIsNotWanted) {
  const Matrix A = graph();
  const Eigen::VectorXd exact = test::eigenvalues(dense(A));
  const Solution largest = solve({.A = A}, {.nev = 3, .which = Which::largest});
  expect_values(largest, exact.reverse(), 3);
  EXPECT_EQ(largest.null_vectors, 0);

  const Solution inside = solve({.A = A}, {.nev = 30, .interval = RealInterval{-0.1, 0.05}});
  expect_values(inside, exact, (exact.array() <= 0.05).count());
  EXPECT_EQ(inside.null_vectors, 0);

  // Orthogonal to a vector of ones, three of the four zeros are left.
  const std::vector<double> ones(kOrder, 1);
  const Solution constrained = solve({.A = A, .constraints = Block(kOrder, 1, ones)}, {.nev = 5});
  expect_values(constrained, exact.tail(kOrder - 1), 5);
  EXPECT_EQ(constrained.null_vectors, 0);

  const Solution guessed = solve({.A = A, .initial_guess = Block(kOrder, 1, ones)}, {.nev = 6});
  expect_values(guessed, exact, 6);
  EXPECT_EQ(guessed.null_vectors, 4);
}

/// A negative weight in one component makes its smallest eigenvalue negative.
TEST(NullSpace, IsNotClaimedForAMatrixThatOnlyLooksLikeALaplacian) {
  HostContext context(1);
  std::vector<test::Edge> edges = test::random_parts({200, 200}, 41);
  edges.front().weight = -3;
  const Matrix A(test::laplacian_of(context, kOrder, edges));
  const Eigen::VectorXd exact = test::eigenvalues(dense(A));
  ASSERT_LT(exact[0], -0.5);
  for (const Method method : kMethods) {
    const Solution solution = solve({.A = A}, {.method = method, .nev = 2});
    expect_values(solution, exact, 2);
    EXPECT_EQ(solution.null_vectors, 0);
  }
}

TEST(NullSpace, TakesSizesFromTheCaller) {
  HostContext context(1);
  std::vector<Triplet<double>> weights;
  for (const auto& [i, j, w] : test::random_parts({200, 199, 1}, 43)) {
    weights.insert(weights.end(), {{i, j, w}, {j, i, w}});
  }
  std::vector<double> sizes;
  const Matrix A(graph_laplacian<double>(
      context, csr_from_triplets<double>(context, kOrder, kOrder, weights).view(),
      {.kind = LaplacianKind::normalized}, &sizes));
  for (double& each : sizes) each = each > 0 ? std::sqrt(each) : 1;
  const Eigen::VectorXd exact = test::eigenvalues(dense(A));
  const Solution plain = solve({.A = A}, {.nev = 5});
  expect_values(plain, exact, 5);
  EXPECT_EQ(plain.null_vectors, 0) << "ones do not show that A is semidefinite";
  const Solution told = solve({.A = A, .null_vector_sizes = sizes}, {.nev = 5});
  expect_values(told, exact, 5);
  EXPECT_EQ(told.null_vectors, 3);
  sizes.pop_back();
  try {
    solve({.A = A, .null_vector_sizes = sizes}, {.nev = 5});
    FAIL();
  } catch (const ProblemError& error) {
    EXPECT_STREQ(error.what(), "A: the matrix has order 400, null_vector_sizes has 399 numbers");
  }
}

/// Above order 20000 no factor tells whether the mass matrix is definite.
TEST(NullSpace, OfALargePencilNeedsAMassMatrixThatIsPositiveThere) {
  HostContext context(1);
  const Index n = 20100;
  const Matrix A(test::laplacian_of(context, n, test::random_parts({10000, 10100}, 53)));
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 1});
    if (i > 0) entries.insert(entries.end(), {{i, i - 1, -0.9}, {i - 1, i, -0.9}});
  }
  const Matrix B(csr_from_triplets<double>(context, n, n, entries));
  for (const Index nev : {1, 4}) {
    try {
      solve({.A = A, .B = B}, {.method = Method::lobpcg, .nev = nev});
      FAIL() << "B is indefinite";
    } catch (const ProblemError& error) {
      EXPECT_EQ(error.part(), ProblemPart::mass) << error.what();
    }
  }
}

/// The Laplacian of two grids of `side`² vertices each, without an edge between them.
Matrix two_grids(Index side) {
  std::vector<test::Edge> edges;
  for (Index i = 0; i < 2 * side; ++i) {
    for (Index j = 0; j < side; ++j) {
      if (j + 1 < side) edges.push_back({i * side + j, i * side + j + 1, 1});
      if (i + 1 < 2 * side && i + 1 != side) edges.push_back({i * side + j, (i + 1) * side + j, 1});
    }
  }
  const auto context = std::make_shared<HostContext>(1);
  return {test::laplacian_of(*context, 2 * side * side, edges), context};
}

/// B = A X for an X whose sum over each grid is 0, plus `shift` in each entry.
Block right_hand_sides(const Matrix& A, MultiVector<double, HostSpace>& X, double shift) {
  const Index n = A.rows();
  for (Index j = 0; j < X.cols(); ++j) {
    for (const Index first : {Index{0}, n / 2}) {
      double sum = 0;
      for (Index i = first; i < first + n / 2; ++i) {
        X.view()(i, j) = std::cos(static_cast<double>((j + 1) * (i % 911)));
        sum += X.view()(i, j);
      }
      for (Index i = first; i < first + n / 2; ++i)
        X.view()(i, j) -= 2 * sum / static_cast<double>(n);
    }
  }
  const auto context = std::make_shared<HostContext>(1);
  MultiVector<double, HostSpace> B(*context, n, X.cols());
  const CsrView<double, HostSpace> rows = A.view();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      B.view()(i, j) = shift;
      for (auto k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
        B.view()(i, j) += rows.values[k] * X.view()(rows.columns[k], j);
      }
    }
  }
  return {std::move(B), context};
}

/// Multigrid then is no preconditioner that finds A indefinite. Solutions are those of A X = B up
/// to a constant on each grid.
TEST(NullSpace, OfALinearSystemLetsMultigridBeChosen) {
  HostContext context(1);
  Problem problem{.A = two_grids(112)};
  const Index n = problem.A.rows();
  MultiVector<double, HostSpace> X(context, n, 8);
  problem.rhs = right_hand_sides(problem.A, X, 0);
  const Solution solution =
      solve(problem, {.method = Method::block_cg, .device = DeviceChoice::host});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_EQ(solution.preconditioner_name, "multigrid of A, degree 3")
      << solution.preconditioner_reason;
  EXPECT_LE(solution.iterations, 15);
  EXPECT_NE(solution.reason.find("differ by its null vectors, of which the graph of the matrix "
                                 "shows 2"),
            std::string::npos)
      << solution.reason;
  const auto found = std::get<Block>(solution.vectors).view();
  for (const Index first : {Index{0}, n / 2}) {
    const double constant = found(first, 3) - X.view()(first, 3);
    for (Index i = first; i < first + n / 2; ++i) {
      ASSERT_NEAR(found(i, 3) - X.view()(i, 3), constant, 1e-4) << i;
    }
  }
}

TEST(NullSpace, OfALinearSystemWithoutSolutionIsNamed) {
  HostContext context(1);
  Problem problem{.A = two_grids(20)};
  MultiVector<double, HostSpace> X(context, problem.A.rows(), 2);
  for (const double shift : {1e-3, 0.0}) {
    problem.rhs = right_hand_sides(problem.A, X, shift);
    const auto found = detail::known_null_space(context, problem, detail::shape_of(problem, 1),
                                                {.method = Method::block_cg});
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->dimension, 2);
    const Solution solution = solve(problem, {.method = Method::block_cg});
    EXPECT_EQ(solution.status, shift == 0 ? SolveStatus::converged : SolveStatus::breakdown)
        << solution.reason;
    EXPECT_EQ(solution.reason.find("has no solution") == std::string::npos, shift == 0);
  }
}

TEST(NullSpace, HasAnEstimateOfMemoryNearThePeak) {
  Device device(DeviceChoice::host, 2);
  for (const Index nev : {4, 12}) {
    HostContext context(1);
    Problem problem{.A = Matrix(test::laplacian_of(
                        context, 6000, test::random_parts({2000, 2000, 1000, 1000}, 47)))};
    Request request{.nev = nev};
    if (nev > 4) request.max_iterations = 2;
    const SolvePlan made = plan(device, problem, request);
    const double estimate = made.device_bytes;
    const auto peak = static_cast<double>(run(device, problem, made).peak_bytes);
    EXPECT_GE(estimate, 0.9 * peak) << nev;
    EXPECT_LE(estimate, 2 * peak) << nev;
  }
}

}  // namespace
}  // namespace heddle
