#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/solve_resident.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <numeric>
#include <random>
#include <string>

#include "support/decompositions.hpp"
#include "support/dense.hpp"
#include "support/random_block.hpp"

namespace heddle {
namespace {

std::vector<RowOrder> orders() {
  std::vector<RowOrder> all = {RowOrder::rcm, RowOrder::radix, RowOrder::jaccard};
  if (detail::no_parts_reason(10, 10).empty()) all.push_back(RowOrder::metis);
  return all;
}

/// Of rows at random, so that every order moves them.
Matrix mixed(HostContext& context, const char* name, std::vector<Index> size) {
  const Matrix A = Matrix::generate({name, std::move(size)});
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  return Matrix(reordered<double>(context, A.view(), order));
}

class RowOrderSolveTest : public testing::Test {
 protected:
  /// max |A x − λ B x| over the pairs, in the rows of the problem, in multiples of ‖A‖.
  static double residual(const Problem& problem, const Solution& solution) {
    const Eigen::MatrixXd A = test::to_dense(problem.A.view());
    const Eigen::MatrixXd B = problem.B ? test::to_dense(problem.B->view())
                                        : Eigen::MatrixXd::Identity(A.rows(), A.cols());
    double worst = 0;
    for (Index j = 0; j < solution.count(); ++j) {
      const Eigen::VectorXd x = vector(solution, j);
      const double lambda = solution.eigenvalues[static_cast<std::size_t>(j)];
      worst = std::max(worst, (A * x - lambda * (B * x)).norm() / (A.norm() * x.norm()));
    }
    return worst;
  }

  static Eigen::VectorXd vector(const Solution& solution, Index j) {
    return detail::visit_real(solution.vectors, [j](const auto& X) {
      Eigen::VectorXd x(X.rows());
      for (Index i = 0; i < X.rows(); ++i) x[i] = static_cast<double>(X.view()(i, j));
      return x;
    });
  }

  HostContext context{2};
};

TEST_F(RowOrderSolveTest, EigenpairsHaveTheRowsOfTheProblem) {
  const Matrix A = mixed(context, "laplace3d", {7, 6, 5});
  for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
    for (const Precision precision : {Precision::full, Precision::mixed}) {
      const Request request{
          .method = method, .nev = 5, .reorder = RowOrder::none, .precision = precision};
      const Solution own = solve({.A = A}, request);
      EXPECT_EQ(own.row_order, "none");
      for (const RowOrder order : orders()) {
        Request asked = request;
        asked.reorder = order;
        const Solution solution = solve({.A = A}, asked);
        ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
        EXPECT_EQ(solution.row_order, row_order_name(order));
        EXPECT_LT(residual({.A = A}, solution), 1e-6) << row_order_name(order);
        for (std::size_t j = 0; j < 5; ++j) {
          EXPECT_NEAR(solution.eigenvalues[j], own.eigenvalues[j],
                      solution.error_bounds[j] + own.error_bounds[j] + 1e-12);
        }
      }
    }
  }
}

/// Every part of a problem: a pencil, constraints, a first guess, a preconditioner of the caller.
TEST_F(RowOrderSolveTest, AllPartsFollowTheOrder) {
  const Matrix A = mixed(context, "elasticity3d", {4, 3, 3});
  const Matrix B = mixed(context, "elasticity3d_mass", {4, 3, 3});
  const Solution first = solve({.A = A, .B = B}, {.nev = 6, .reorder = RowOrder::none});
  const auto& X = std::get<Block>(first.vectors);
  // The pairs above the first two are those under their constraint.
  const Block constraints(X.columns(0, 2));
  const Block guess(X.columns(2, 3));
  HostCsrMatrix<double> diagonal(context, A.rows(), A.rows(), A.rows());
  const Eigen::MatrixXd dense = test::to_dense(A.view());
  std::iota(diagonal.row_offsets(), diagonal.row_offsets() + A.rows() + 1, 0);
  std::iota(diagonal.columns(), diagonal.columns() + A.rows(), 0);
  for (Index i = 0; i < A.rows(); ++i) diagonal.values()[i] = 1 / dense(i, i);
  const Matrix jacobi(std::move(diagonal));
  for (const RowOrder order : orders()) {
    const Problem problem{.A = A,
                          .B = B,
                          .constraints = constraints,
                          .initial_guess = guess,
                          .preconditioner = jacobi};
    const Solution solution =
        solve(problem, {.method = Method::lobpcg, .nev = 3, .reorder = order});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    EXPECT_LE(solution.iterations, 3);  // the guess is the solution, if its rows are right
    EXPECT_LT(residual({.A = A, .B = B}, solution), 1e-7);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(solution.eigenvalues[j], first.eigenvalues[j + 2],
                  solution.error_bounds[j] + first.error_bounds[j + 2] +
                      1e-10 * std::abs(first.eigenvalues[j + 2]));
    }
  }
}

TEST_F(RowOrderSolveTest, LinearSystemsAndNearNullSpaces) {
  const Matrix A = mixed(context, "laplace2d", {15, 14});
  test::RandomBlock<double> R(A.rows(), 3, 3, 4);
  const ConstBlockView<double, HostSpace> view = R.view();
  const Block rhs(view);
  const Eigen::MatrixXd exact =
      test::solve_definite(test::to_dense(A.view()), test::to_dense(view));
  std::vector<double> ones(static_cast<std::size_t>(A.rows()), 1.0);
  const Block near_null(A.rows(), 1, ones);
  for (const RowOrder order : orders()) {
    for (const char* preconditioner : {"none", "incomplete_cholesky", "multigrid"}) {
      Problem problem{.A = A, .rhs = rhs};
      if (std::string(preconditioner) == "multigrid") problem.near_null = near_null;
      const Solution solution = solve(
          problem, {.tolerance = 1e-12, .preconditioner = {preconditioner}, .reorder = order});
      ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
      for (Index j = 0; j < 3; ++j) {
        EXPECT_LT((vector(solution, j) - exact.col(j)).norm(), 1e-9 * exact.norm())
            << row_order_name(order) << ", " << preconditioner;
      }
    }
  }
}

/// Of a square A that is not symmetric: A v = σ u, Aᵀu = σ v, and min ‖b − A x‖.
TEST_F(RowOrderSolveTest, SingularTripletsAndLeastSquares) {
  const Matrix symmetric = mixed(context, "laplace2d", {9, 8});
  std::vector<std::int32_t> order_of_rows(static_cast<std::size_t>(symmetric.rows()));
  std::iota(order_of_rows.begin(), order_of_rows.end(), 0);
  HostCsrMatrix<double> scaled = reordered<double>(context, symmetric.view(), order_of_rows);
  for (Index i = 0; i < scaled.rows(); ++i) {
    for (Index e = scaled.row_offsets()[i]; e < scaled.row_offsets()[i + 1]; ++e) {
      scaled.values()[e] *= 1 + 0.01 * static_cast<double>(i);
    }
  }
  const Matrix A(std::move(scaled));
  const Eigen::MatrixXd dense = test::to_dense(A.view());
  const Eigen::VectorXd exact = test::singular_values(dense);
  test::RandomBlock<double> R(A.rows(), 1, 3, 4);
  const ConstBlockView<double, HostSpace> rhs = R.view();
  const Eigen::VectorXd x = test::inverse(dense) * test::to_dense(rhs).col(0);
  for (const RowOrder order : orders()) {
    Request request{.method = Method::block_lanczos,
                    .nev = 3,
                    .which = Which::largest,
                    .tolerance = 1e-12,
                    .reorder = order};
    const Solution triplets = solve({.A = A, .normal_equations = true}, request);
    ASSERT_EQ(triplets.status, SolveStatus::converged) << triplets.reason;
    EXPECT_EQ(triplets.row_order, row_order_name(order));
    const Eigen::MatrixXd U = test::to_dense(std::get<Block>(triplets.left_vectors).view());
    for (Index j = 0; j < 3; ++j) {
      const double sigma = triplets.singular_values[static_cast<std::size_t>(j)];
      EXPECT_NEAR(sigma, exact[j], 1e-10 * exact[0]);
      EXPECT_LT((dense * vector(triplets, j) - sigma * U.col(j)).norm(), 1e-9 * exact[0]);
      EXPECT_LT((dense.transpose() * U.col(j) - sigma * vector(triplets, j)).norm(),
                1e-9 * exact[0]);
    }
    const Solution least = solve({.A = A, .rhs = Block(rhs), .normal_equations = true},
                                 {.tolerance = 1e-12, .reorder = order});
    ASSERT_EQ(least.status, SolveStatus::converged) << least.reason;
    EXPECT_LT((vector(least, 0) - x).norm(), 1e-7 * x.norm());
  }
}

/// Vectors in another order, or those of the caller's memory, make other levels and more
/// iterations.
TEST_F(RowOrderSolveTest, LevelsAreMadeOfTheVectorsInTheOrderOfTheRows) {
  const Matrix A = mixed(context, "laplace3d", {14, 13, 12});
  const auto n = static_cast<std::size_t>(A.rows());
  std::vector<double> vector(n);
  for (std::size_t i = 0; i < n; ++i) vector[i] = i % 2 == 0 ? 1.0 : 1.01;
  Request request{
      .method = Method::lobpcg, .nev = 3, .start = StartVectors::random, .reorder = RowOrder::none};
  request.preconditioner.type = "multigrid";
  const auto solved = [&] {
    return solve({.A = A, .near_null = Block(A.rows(), 1, vector)}, request);
  };
  const Solution own = solved();
  ASSERT_EQ(own.status, SolveStatus::converged) << own.reason;
  for (const RowOrder order : {RowOrder::rcm, RowOrder::radix}) {
    request.reorder = order;
    const Solution other = solved();
    ASSERT_EQ(other.status, SolveStatus::converged) << other.reason;
    EXPECT_NEAR(static_cast<double>(other.iterations), static_cast<double>(own.iterations), 3);
    EXPECT_EQ(other.preconditioner_levels.size(), own.preconditioner_levels.size());
  }
}

/// The random start belongs to the rows of the problem: the iteration is the same to rounding.
TEST_F(RowOrderSolveTest, StartsFromTheSameRandomRows) {
  const Matrix A = mixed(context, "laplace3d", {9, 8, 7});
  Request request{.method = Method::lobpcg, .nev = 4, .max_iterations = 3};
  request.preconditioner.type = "jacobi";
  request.reorder = RowOrder::none;
  const Solution own = solve({.A = A}, request);
  request.reorder = RowOrder::rcm;
  const Solution other = solve({.A = A}, request);
  for (std::size_t j = 0; j < own.eigenvalues.size(); ++j) {
    EXPECT_NEAR(own.eigenvalues[j], other.eigenvalues[j], 1e-12 * own.eigenvalues.back());
  }
}

TEST_F(RowOrderSolveTest, CheckpointsFitTheirOwnOrder) {
  const Matrix A = mixed(context, "laplace3d", {9, 8, 7});
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "heddle-row-order.checkpoint";
  std::filesystem::remove(file);
  Request request{.method = Method::lobpcg, .nev = 4, .reorder = RowOrder::rcm};
  request.preconditioner.type = "jacobi";
  const Solution whole = solve({.A = A}, request);
  request.max_iterations = whole.iterations / 2;
  request.checkpoint.file = file;
  request.checkpoint.every_s = 0;
  ASSERT_EQ(solve({.A = A}, request).status, SolveStatus::max_iterations);
  request.max_iterations = 0;
  request.checkpoint.resume = true;
  request.reorder = RowOrder::radix;
  EXPECT_THROW(solve({.A = A}, request), InputError);
  request.reorder = RowOrder::rcm;
  const Solution resumed = solve({.A = A}, request);
  EXPECT_EQ(resumed.iterations, whole.iterations);
  EXPECT_EQ(resumed.eigenvalues, whole.eigenvalues);
}

TEST_F(RowOrderSolveTest, SmallAndNaturallyNumberedProblemsKeepTheirOrder) {
  const Solution solution = solve({.A = Matrix::generate({"laplace2d", {20, 20}})}, {.nev = 3});
  EXPECT_EQ(solution.row_order, "none");
  EXPECT_NE(solution.row_order_reason.find("the matrix's own"), std::string::npos)
      << solution.row_order_reason;
}

TEST_F(RowOrderSolveTest, RefusesWhatHasNoOtherOrder) {
  const auto refused = [](Problem problem, Request request, const std::string& part) {
    request.reorder = RowOrder::rcm;
    try {
      solve(problem, request);
    } catch (const RequestError& error) {
      EXPECT_EQ(error.field(), "reorder");
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      request.reorder = RowOrder::automatic;
      EXPECT_EQ(solve(problem, request).row_order, "none");
      return;
    }
    ADD_FAILURE() << "not refused: " << part;
  };
  const Matrix A = Matrix::generate({"laplace2d", {8, 8}});
  const Matrix callable(A.rows(), A.cols(),
                        [A](auto X, auto Y) { reference_spmm<double>(1, A.view(), X, 0, Y); });
  refused({.A = callable}, {.method = Method::lobpcg, .nev = 2}, "A is a callable");
  HostCsrMatrix<double> wide(context, 2, 3, 2);
  std::iota(wide.row_offsets(), wide.row_offsets() + 3, 0);
  std::iota(wide.columns(), wide.columns() + 2, 1);
  std::fill(wide.values(), wide.values() + 2, 1.0);
  refused({.A = Matrix(std::move(wide)), .normal_equations = true}, {.nev = 2}, "not square");
  Device device(DeviceChoice::host);
  const Request asked{.nev = 2, .reorder = RowOrder::rcm};
  device.with_context([&](auto& here) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(here)>, HostContext>) {
      EXPECT_THROW(solve(device,
                         ResidentProblem<double, HostContext>{
                             .A = ResidentMatrix<double, HostContext>(A.view())},
                         asked),
                   RequestError);
    }
  });
}

}  // namespace
}  // namespace heddle
