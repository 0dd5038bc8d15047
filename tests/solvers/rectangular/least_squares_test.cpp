#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <limits>

#include "solvers/linear_test_support.hpp"
#include "solvers/rectangular/adjoint_support.hpp"
#include "support/decompositions.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::SparsePair;
using test::TestMatrix;

template <class T>
Eigen::MatrixXd to_dense_block(ConstBlockView<T, HostSpace> X) {
  Eigen::MatrixXd dense(X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) dense(i, j) = static_cast<double>(X(i, j));
  }
  return dense;
}

template <class T>
class LeastSquares : public ::testing::Test {
 protected:
  /// Solves for random right-hand sides and compares with the least-norm solution of a complete
  /// orthogonal decomposition.
  void expect_solved(const TestMatrix<T>& A, Index columns) {
    SCOPED_TRACE(::testing::Message() << A.rows << "x" << A.cols);
    SparsePair<T> operators(context_, A.view());
    const auto B = test::random_vectors<T>(context_, A.rows, columns);
    LeastSquaresProblem<T, HostContext> problem;
    problem.A = operators.pair();
    problem.B = B.view();
    const auto result = least_squares(context_, problem, BlockCgOptions{});
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_EQ(result.operator_applications, operators.pair().columns_applied());
    const Eigen::MatrixXd dense = test::to_dense(A.view());
    const Eigen::MatrixXd right = to_dense_block<T>(B.view());
    const Eigen::MatrixXd X = to_dense_block<T>(result.solution.view());
    const auto [truth, rank] = test::least_squares_solution(dense, right);
    const Eigen::VectorXd sigma = test::singular_values(dense);
    const double least = sigma[rank - 1];
    for (Index j = 0; j < columns; ++j) {
      const auto column = static_cast<std::size_t>(j);
      const Eigen::VectorXd r = right.col(j) - dense * X.col(j);
      const double scale = (dense.transpose() * right.col(j)).norm();
      const double n = static_cast<double>(A.rows + A.cols);
      const double rounding = test::tolerance<T>(sigma[0] * right.col(j).norm(), n);
      EXPECT_LE((dense.transpose() * r).norm(), kDefaultTolerance<T> * scale + rounding);
      EXPECT_LE(result.residuals[column], kDefaultTolerance<T>);
      EXPECT_NEAR(result.residual_norms[column], r.norm(), rounding);
      // AᵀA (x − x*) is what is left of the residual of the normal equations.
      EXPECT_LE((X.col(j) - truth.col(j)).norm(),
                (kDefaultTolerance<T> * scale + rounding) / (least * least));
    }
  }

  HostContext context_{2};
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LeastSquares, Scalars);

/// Well conditioned: a random matrix over a multiple of the identity.
template <class T>
TestMatrix<T> dominant_matrix(Index rows, Index cols) {
  TestMatrix<T> A = test::band_matrix<T>(rows, cols, 3);
  for (Index i = 0; i < std::min(rows, cols); ++i) {
    for (auto k = A.offsets[static_cast<std::size_t>(i)];
         k < A.offsets[static_cast<std::size_t>(i + 1)]; ++k) {
      if (A.columns[static_cast<std::size_t>(k)] == i) A.values[static_cast<std::size_t>(k)] += 6;
    }
  }
  return A;
}

TYPED_TEST(LeastSquares, TallSquareAndWide) {
  this->expect_solved(dominant_matrix<TypeParam>(60, 40), 3);
  this->expect_solved(dominant_matrix<TypeParam>(40, 40), 1);
  this->expect_solved(dominant_matrix<TypeParam>(40, 60), 5);
}

TYPED_TEST(LeastSquares, OneColumn) {
  this->expect_solved(test::band_matrix<TypeParam>(50, 1, 50), 4);
}

TYPED_TEST(LeastSquares, EmptyRowsAndColumns) {
  TestMatrix<TypeParam> A = dominant_matrix<TypeParam>(60, 40);
  TestMatrix<TypeParam> padded;
  padded.rows = 62;
  padded.cols = 43;
  padded.columns = A.columns;
  padded.values = A.values;
  padded.offsets.insert(padded.offsets.end(), A.offsets.begin(), A.offsets.end());
  padded.offsets.push_back(A.offsets.back());
  this->expect_solved(padded, 2);
}

TYPED_TEST(LeastSquares, OfMuchLessThanFullRankIsNoWorseThanZero) {
  HostContext context(2);
  TestMatrix<TypeParam> A = test::band_matrix<TypeParam>(200, 150, 200);
  const std::vector<TypeParam> random = A.values;
  for (Index i = 3; i < A.rows; ++i) {  // rank 3 to rounding
    for (Index j = 0; j < A.cols; ++j) {
      TypeParam sum = 0;
      for (Index k = 0; k < 3; ++k) {
        sum += random[static_cast<std::size_t>(i * A.cols + k)] *
               random[static_cast<std::size_t>(k * A.cols + j)];
      }
      A.values[static_cast<std::size_t>(i * A.cols + j)] = sum;
    }
  }
  SparsePair<TypeParam> operators(context, A.view());
  for (const Index columns : {1, 4, 8}) {
    const auto B = test::random_vectors<TypeParam>(context, A.rows, columns);
    LeastSquaresProblem<TypeParam, HostContext> problem;
    problem.A = operators.pair();
    problem.B = B.view();
    BlockCgOptions options;
    for (const double multiple : {0.1, 1.0, 100.0}) {  // mostly more than can be had
      options.tolerance = multiple * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
      const auto result = least_squares(context, problem, options);
      for (Index j = 0; j < columns; ++j) {
        const auto column = static_cast<std::size_t>(j);
        const double before = to_dense_block<TypeParam>(B.columns(j, 1)).norm();
        const double rounding = test::tolerance<TypeParam>(before, 200);
        EXPECT_LE(result.residual_norms[column], before + rounding) << result.reason;
      }
    }
  }
}

TEST(LeastSquaresDouble, OfColumnsInPairsThatAreNearlyTheSame) {
  HostContext context(2);
  const auto half = test::random_matrix<double>(120, 40, 6);
  TestMatrix<double> A;
  A.rows = half.rows;
  A.cols = 2 * half.cols;
  A.offsets.clear();
  for (const auto offset : half.offsets) A.offsets.push_back(2 * offset);
  for (Index i = 0; i < half.rows; ++i) {
    for (Index k = half.view().row_offsets[i]; k < half.view().row_offsets[i + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      A.columns.insert(A.columns.end(), {2 * half.columns[entry], 2 * half.columns[entry] + 1});
      A.values.push_back(half.values[entry]);
      A.values.push_back(half.values[entry] * (1 + 1e-7 * static_cast<double>((7 * i + k) % 5)));
    }
  }
  SparsePair<double> operators(context, A.view());
  for (const Index columns : {1, 2}) {
    const auto B = test::random_vectors<double>(context, A.rows, columns);
    LeastSquaresProblem<double, HostContext> problem;
    problem.A = operators.pair();
    problem.B = B.view();
    const auto result = least_squares(context, problem, BlockCgOptions{});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  }
}

TEST(LeastSquaresDouble, AnInitialGuessIsCorrected) {
  HostContext context(2);
  const auto A = dominant_matrix<double>(80, 50);
  SparsePair<double> operators(context, A.view());
  const auto B = test::random_vectors<double>(context, 80, 3);
  LeastSquaresProblem<double, HostContext> problem;
  problem.A = operators.pair();
  problem.B = B.view();
  BlockCgOptions options;
  options.tolerance = 1e-10;
  const auto first = least_squares(context, problem, options);
  ASSERT_EQ(first.status, SolveStatus::converged) << first.reason;
  problem.initial_guess = first.solution.view();
  const auto again = least_squares(context, problem, options);
  EXPECT_EQ(again.status, SolveStatus::converged) << again.reason;
  EXPECT_EQ(again.iterations, 0);
  const auto guess = test::random_vectors<double>(context, 50, 3, 1);
  problem.initial_guess = guess.view();
  const auto other = least_squares(context, problem, options);
  EXPECT_EQ(other.status, SolveStatus::converged) << other.reason;
  const Eigen::MatrixXd difference =
      to_dense_block<double>(other.solution.view()) - to_dense_block<double>(first.solution.view());
  EXPECT_LE(difference.norm(), 1e-8);
}

TEST(LeastSquaresDouble, ZeroRightHandSidesHaveZeroSolutions) {
  HostContext context(1);
  SparsePair<double> operators(context, dominant_matrix<double>(20, 10).view());
  MultiVector<double, HostSpace> B(context, 20, 2);
  set_zero(context, B.view());
  LeastSquaresProblem<double, HostContext> problem;
  problem.A = operators.pair();
  problem.B = B.view();
  const auto result = least_squares(context, problem, BlockCgOptions{});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_EQ(to_dense_block<double>(result.solution.view()).norm(), 0);
  EXPECT_EQ(result.residuals, std::vector<double>(2, 0.0));
  const auto guess = test::random_vectors<double>(context, 10, 2);
  problem.initial_guess = guess.view();
  const auto guessed = least_squares(context, problem, BlockCgOptions{});
  EXPECT_EQ(guessed.status, SolveStatus::converged) << guessed.reason;
  EXPECT_EQ(to_dense_block<double>(guessed.solution.view()).norm(), 0);
  EXPECT_EQ(guessed.residuals, std::vector<double>(2, 0.0));
}

TEST(LeastSquaresDouble, SaysWhenTheIterationsDoNotSuffice) {
  HostContext context(1);
  SparsePair<double> operators(context, test::band_matrix<double>(200, 150, 2).view());
  const auto B = test::random_vectors<double>(context, 200, 1);
  LeastSquaresProblem<double, HostContext> problem;
  problem.A = operators.pair();
  problem.B = B.view();
  BlockCgOptions options;
  options.max_iterations = 3;
  const auto result = least_squares(context, problem, options);
  EXPECT_EQ(result.status, SolveStatus::max_iterations) << result.reason;
  EXPECT_EQ(result.iterations, 3);
  EXPECT_GT(result.residuals[0], kDefaultTolerance<double>);
}

TEST(LeastSquaresDouble, NumbersThatAreNotFiniteAreABreakdown) {
  HostContext context(1);
  SparsePair<double> operators(context, dominant_matrix<double>(20, 10).view());
  auto B = test::random_vectors<double>(context, 20, 2);
  B.view()(3, 1) = std::numeric_limits<double>::infinity();
  LeastSquaresProblem<double, HostContext> problem;
  problem.A = operators.pair();
  problem.B = B.view();
  EXPECT_EQ(least_squares(context, problem, BlockCgOptions{}).status, SolveStatus::breakdown);
}

TEST(LeastSquaresDouble, MisuseNamesBothSides) {
  HostContext context(1);
  SparsePair<double> operators(context, dominant_matrix<double>(20, 10).view());
  const auto B = test::random_vectors<double>(context, 20, 2);
  const auto wrong = test::random_vectors<double>(context, 10, 3);
  const auto message = [&](const LeastSquaresProblem<double, HostContext>& problem,
                           double tolerance, double damp = 0) -> std::string {
    LeastSquaresOptions options;
    options.tolerance = tolerance;
    options.damp = damp;
    try {
      least_squares(context, problem, options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const AdjointPair<double, HostContext> A = operators.pair();
  EXPECT_EQ(message({{A.A, nullptr}, nullptr, B.view(), {}}, 0),
            "least_squares: both A and its transpose are needed, its transpose is missing");
  EXPECT_EQ(message({A, nullptr, wrong.view(), {}}, 0),
            "least_squares: B must have A's 20 rows and at least one column, it is 10x3");
  EXPECT_EQ(message({A, nullptr, B.view(), wrong.view()}, 0),
            "least_squares: the initial guess must be 10x2, it is 10x3");
  EXPECT_EQ(message({A, nullptr, B.view(), {}}, 1.5),
            "least_squares: the tolerance must lie in (0, 1), it is 1.5");
  EXPECT_EQ(message({A, nullptr, B.view(), {}}, 0, -1),
            "least_squares: damp must be a finite number that is not negative, it is -1");
}

/// A dense matrix with entries f(i, j).
template <class Entry>
TestMatrix<double> dense_matrix(Index rows, Index cols, Entry entry) {
  TestMatrix<double> A = test::matrix_with_pattern<double>(rows, cols, [&](Index) {
    std::vector<Index> columns;
    for (Index j = 0; j < cols; ++j) columns.push_back(j);
    return columns;
  });
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) A.values[static_cast<std::size_t>(i * cols + j)] = entry(i, j);
  }
  return A;
}

/// The solution for b = A x.
LeastSquaresResult<double, HostSpace> solve_for(HostContext& context, const TestMatrix<double>& A,
                                                const Eigen::VectorXd& b,
                                                const LeastSquaresOptions& options = {}) {
  SparsePair<double> operators(context, A.view());
  MultiVector<double, HostSpace> B(context, A.rows, 1);
  for (Index i = 0; i < A.rows; ++i) B.view()(i, 0) = b[i];
  LeastSquaresProblem<double, HostContext> problem;
  problem.A = operators.pair();
  problem.B = B.view();
  return least_squares(context, problem, options);
}

TEST(LeastSquaresDouble, AStraightLineFarFromZero) {
  HostContext context(2);
  const auto time = [](Index i) { return 4 * static_cast<double>(i) / 499; };
  const auto A = dense_matrix(500, 2, [&](Index i, Index j) { return j == 0 ? 1 : 1e4 + time(i); });
  Eigen::VectorXd b(500);
  for (Index i = 0; i < 500; ++i) b[i] = 2 * time(i);
  LeastSquaresOptions cg;
  cg.direct = false;
  for (const LeastSquaresOptions& options : {LeastSquaresOptions{}, cg}) {
    const auto result = solve_for(context, A, b, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_NEAR(result.solution.view()(0, 0), -2e4, options.direct ? 1e-4 : 2e3);
    EXPECT_NEAR(result.solution.view()(1, 0), 2, options.direct ? 1e-8 : 0.2);
  }
}

TEST(LeastSquaresDouble, Polynomials) {
  // The condition of the columns is about 1e8.
  HostContext context(2);
  const auto A = dense_matrix(200, 12, [](Index i, Index j) {
    return std::pow(static_cast<double>(i) / 199, static_cast<double>(j));
  });
  const auto result = solve_for(context, A, test::to_dense(A.view()) * Eigen::VectorXd::Ones(12));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_EQ(result.iterations, 0);
  for (Index j = 0; j < 12; ++j) EXPECT_NEAR(result.solution.view()(j, 0), 1, 1e-6);
}

TEST(LeastSquaresDouble, ColumnsOfAllSizesByCg) {
  HostContext context(2);
  TestMatrix<double> A = dominant_matrix<double>(900, 300);
  const auto size = [](Index j) { return std::pow(10.0, static_cast<double>(j % 7)); };
  for (std::size_t e = 0; e < A.values.size(); ++e) A.values[e] *= size(A.columns[e]);
  Eigen::VectorXd x(300);
  for (Index j = 0; j < 300; ++j) x[j] = static_cast<double>(j % 5 + 1) / size(j);
  LeastSquaresOptions options;
  options.direct = false;
  const auto result = solve_for(context, A, test::to_dense(A.view()) * x, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_GT(result.iterations, 0);
  for (Index j = 0; j < 300; ++j) {
    EXPECT_NEAR(result.solution.view()(j, 0) * size(j), x[j] * size(j), 1e-6) << j;
  }
}

TEST(LeastSquaresDouble, ASolutionWithoutDigitsIsNotConverged) {
  // Two columns that nearly agree, and a b mostly outside of their span: the error is about εκ².
  HostContext context(1);
  const auto A = dense_matrix(48, 2, [](Index i, Index j) {
    return 1 + (j == 1 ? 1e-11 * static_cast<double>(i % 3) : 0);
  });
  Eigen::VectorXd b(48);
  for (Index i = 0; i < 48; ++i) b[i] = 1 + (i % 3 != 0 ? 0 : i % 2 == 0 ? 1 : -1);
  const auto result = solve_for(context, A, b);
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  EXPECT_NE(result.reason.find("no digits"), std::string::npos) << result.reason;
}

TYPED_TEST(LeastSquares, DampedAsTheNormalEquationsSay) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{60, 40}, {40, 60}}) {
    const auto A = dominant_matrix<TypeParam>(rows, cols);
    SparsePair<TypeParam> operators(this->context_, A.view());
    const auto B = test::random_vectors<TypeParam>(this->context_, rows, 3);
    LeastSquaresProblem<TypeParam, HostContext> problem;
    problem.A = operators.pair();
    problem.B = B.view();
    const Eigen::MatrixXd dense = test::to_dense(A.view());
    const Eigen::MatrixXd right = to_dense_block<TypeParam>(B.view());
    for (const bool direct : {true, false}) {
      for (const double damp : {0.0, 0.5, 3.0, 1e3}) {
        LeastSquaresOptions options;
        options.damp = damp;
        options.direct = direct;
        if (damp == 0 && rows < cols) continue;
        const auto result = least_squares(this->context_, problem, options);
        ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
        EXPECT_EQ(result.iterations == 0, direct);
        const Eigen::MatrixXd F =
            dense.transpose() * dense + damp * damp * Eigen::MatrixXd::Identity(cols, cols);
        const Eigen::MatrixXd truth = test::solve_definite(F, dense.transpose() * right);
        const Eigen::MatrixXd X = to_dense_block<TypeParam>(result.solution.view());
        EXPECT_LE((X - truth).norm(), 100 * kDefaultTolerance<TypeParam> * truth.norm())
            << "damp " << damp;
        for (Index j = 0; j < 3; ++j) {
          const double norm = (right.col(j) - dense * X.col(j)).norm();
          EXPECT_NEAR(result.residual_norms[static_cast<std::size_t>(j)], norm,
                      test::tolerance<TypeParam>(right.col(j).norm(), 100));
        }
      }
    }
  }
}

/// AᵀA is never formed, but its products, columns counted, and the bound on its norm are right.
TEST(NormalEquations, MultipliesByAAndItsTranspose) {
  HostContext context(2);
  const auto A = test::random_matrix<double>(30, 18, 4);
  SparsePair<double> operators(context, A.view());
  const Eigen::MatrixXd dense = test::to_dense(A.view());
  for (const bool wide : {false, true}) {
    const auto pair = wide ? operators.pair().transposed() : operators.pair();
    const double damp = wide ? 0.75 : 0;
    Eigen::MatrixXd matrix = wide ? Eigen::MatrixXd(dense * dense.transpose())
                                  : Eigen::MatrixXd(dense.transpose() * dense);
    matrix += damp * damp * Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
    NormalEquationsOperator<double, HostContext> F(context, pair, damp);
    const Index n = F.rows();
    ASSERT_EQ(n, matrix.rows());
    const auto X = test::random_vectors<double>(context, n, 5);
    auto Y = test::random_vectors<double>(context, n, 5, 1);
    const Eigen::MatrixXd before = to_dense_block<double>(Y.view());
    const Index applied = pair.columns_applied();
    auto sum = test::random_vectors<double>(context, n, 5, 2);
    const Eigen::MatrixXd sum_before = to_dense_block<double>(sum.view());
    ASSERT_TRUE(F.accumulate(context, 2, X.view(),
                             {.beta = -3, .gamma = 0.5, .eta = 4, .Y = sum.view()}, Y.view()));
    const Eigen::MatrixXd product = matrix * to_dense_block<double>(X.view());
    const double rounding = test::tolerance<double>(matrix.norm(), static_cast<double>(n));
    const Eigen::MatrixXd expected =
        2 * product - 3 * before + to_dense_block<double>(X.view()) / 2;
    EXPECT_LE((to_dense_block<double>(Y.view()) - expected).norm(), 5 * rounding);
    EXPECT_LE((to_dense_block<double>(sum.view()) - (sum_before + 4 * expected)).norm(),
              25 * rounding);
    F.apply(context, X.columns(1, 2), Y.columns(0, 2));
    EXPECT_LE((to_dense_block<double>(Y.columns(0, 2)) - product.middleCols(1, 2)).norm(),
              5 * rounding);
    EXPECT_EQ(F.columns_applied(), 7);
    EXPECT_EQ(pair.columns_applied() - applied, 14);
    ASSERT_TRUE(F.one_norm());
    EXPECT_GE(*F.one_norm() * (1 + 1e-14), matrix.cwiseAbs().colwise().sum().maxCoeff());
  }
}

TEST(NormalEquations, AccumulateOnlyIfTheTransposeDoes) {
  HostContext context(1);
  SparsePair<double> operators(context, test::band_matrix<double>(12, 12, 2).view());
  test::FunctionOperator refuses(
      12, [&](auto X, auto Y) { operators.pair().A_transposed->apply(context, X, Y); });
  NormalEquationsOperator<double, HostContext> F(context, {operators.pair().A, &refuses});
  const auto X = test::random_vectors<double>(context, 12, 2);
  auto Y = test::random_vectors<double>(context, 12, 2, 1);
  const auto before = test::all_entries<double>(Y.view());
  EXPECT_FALSE(F.accumulate(context, 1, X.view(), {.beta = 1}, Y.view()));
  EXPECT_FALSE(F.accumulate(context, 1, X.view(), {.beta = 1}, Y.view()));
  EXPECT_EQ(test::all_entries<double>(Y.view()), before);
  EXPECT_EQ(F.columns_applied(), 0);
  EXPECT_EQ(operators.pair().A->columns_applied(), 2);
  EXPECT_FALSE(F.one_norm());
}

}  // namespace
}  // namespace heddle
