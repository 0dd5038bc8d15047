#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <set>

#include "solvers/linear_test_support.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::make_operator;
using test::random_vectors;

template <Scalar T>
using System = LinearSystem<T, HostContext>;

constexpr CgAlgorithm kBoth[] = {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block};

template <class T>
class BlockCg : public ::testing::Test {
 protected:
  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlockCg, Scalars);

template <Scalar T>
void expect_solved(CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                   const LinearResult<T, HostSpace>& result) {
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> residuals =
      test::true_linear_residuals<T>(A, B, result.solution.view());
  ASSERT_EQ(result.residuals.size(), residuals.size());
  for (std::size_t j = 0; j < residuals.size(); ++j) {
    EXPECT_LE(result.residuals[j], kDefaultTolerance<T>);
    EXPECT_LE(residuals[j], 1.1 * kDefaultTolerance<T>) << "column " << j;
    EXPECT_LE(result.backward_errors[j], result.residuals[j]);
  }
}

TYPED_TEST(BlockCg, SolvesWithEveryPreconditioner) {
  using T = TypeParam;
  auto A = make_operator<T>(this->context_, {"elasticity3d", {4, 4, 4}});
  const auto B = random_vectors<T>(this->context_, A.rows(), 5);
  JacobiPreconditioner<T, HostContext> jacobi(this->context_, A.matrix());
  ChebyshevPreconditioner<T, HostContext> chebyshev(this->context_, A.matrix());
  BlockJacobiPreconditioner<T, HostContext> block_jacobi(this->context_, A.matrix());
  IncompleteCholeskyPreconditioner<T, HostContext> ic(this->context_, A.matrix());
  IncompleteCholeskyPreconditioner<T, HostContext> iterated(this->context_, A.matrix(),
                                                            TriangularSolve::iterated);
  const std::vector<Preconditioner<T, HostContext>*> all = {nullptr,       &jacobi, &chebyshev,
                                                            &block_jacobi, &ic,     &iterated};
  for (auto* M : all) {
    for (const CgAlgorithm algorithm : kBoth) {
      BlockCgOptions options;
      options.algorithm = algorithm;
      const auto result = block_cg<T, HostContext>(this->context_, {&A, M, B.view()}, options);
      expect_solved<T>(A.matrix(), B.view(), result);
    }
  }
}

TYPED_TEST(BlockCg, AgreesWithADenseSolve) {
  using T = TypeParam;
  auto A = make_operator<T>(this->context_, {"laplace2d", {9, 11}});
  const auto B = random_vectors<T>(this->context_, A.rows(), 3);
  const auto result = block_cg<T, HostContext>(this->context_, {&A, nullptr, B.view()}, {});
  const Eigen::MatrixXd dense = test::to_dense(A.matrix());
  const double smallest = test::eigenvalues(dense)(0);
  for (Index j = 0; j < 3; ++j) {
    Eigen::VectorXd b(A.rows()), x(A.rows());
    for (Index i = 0; i < A.rows(); ++i) {
      b(i) = static_cast<double>(B.view()(i, j));
      x(i) = static_cast<double>(result.solution.view()(i, j));
    }
    const double error = (x - test::solve_definite(dense, b)).norm();
    EXPECT_LE(error, 1.1 * kDefaultTolerance<T> * b.norm() / smallest);  // ‖e‖ ≤ ‖r‖/λ_min
  }
}

TYPED_TEST(BlockCg, EachColumnAgreesWithCgOnItAlone) {
  using T = TypeParam;
  auto A = make_operator<T>(this->context_, {"laplace3d", {7, 8, 9}});
  const auto B = random_vectors<T>(this->context_, A.rows(), 6);
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    const auto block = block_cg<T, HostContext>(this->context_, {&A, nullptr, B.view()}, options);
    for (Index j = 0; j < 6; ++j) {
      const auto b = B.columns(j, 1);
      const auto single = block_cg<T, HostContext>(this->context_, {&A, nullptr, b}, options);
      double difference = 0, size = 0;
      for (Index i = 0; i < A.rows(); ++i) {
        const double x = static_cast<double>(single.solution.view()(i, 0));
        difference =
            std::max(difference, std::abs(x - static_cast<double>(block.solution.view()(i, j))));
        size = std::max(size, std::abs(x));
      }
      EXPECT_LE(difference, 1e3 * kDefaultTolerance<T> * size) << "column " << j;
      EXPECT_LE(block.iterations, 2 * single.iterations);
    }
  }
}

TEST(BlockCg, EndsAfterAsManyStepsAsThereAreEigenvalues) {
  HostContext context;
  for (const Index distinct : {1, 2, 3, 7}) {
    std::vector<double> diagonal(200);
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      diagonal[i] = 1 + static_cast<double>(static_cast<Index>(i) % distinct);
    }
    DiagonalOperator<double> A(diagonal);
    const auto B = random_vectors<double>(context, 200, 4);
    for (const CgAlgorithm algorithm : kBoth) {
      BlockCgOptions options;
      options.tolerance = 1e-12;
      options.algorithm = algorithm;
      const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, options);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
      EXPECT_LE(result.iterations, distinct);
    }
  }
}

TEST(BlockCg, EndsOnceTheBlocksSpanTheSpace) {
  HostContext context;
  const Index n = 60;
  DiagonalOperator<double> A(counting(n, 10));
  for (const Index b : {1, 4, 7, 16, 30, 60}) {
    const auto B = random_vectors<double>(context, n, b);
    const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, {});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_LE(result.iterations, (n + b - 1) / b + 1) << "b = " << b;
  }
}

TEST(BlockCg, TakesMoreRightHandSidesThanRows) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {3, 4}});
  const auto B = random_vectors<double>(context, 12, 40);
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, {});
  expect_solved<double>(A.matrix(), B.view(), result);
  EXPECT_LE(result.iterations, 2);
}

TEST(BlockCg, TakesWideBlocks) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  const auto B = random_vectors<double>(context, A.rows(), 150);
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, {});
  expect_solved<double>(A.matrix(), B.view(), result);
  EXPECT_LE(result.iterations, 5);
}

TYPED_TEST(BlockCg, DependentRightHandSidesShareOneDirection) {
  using T = TypeParam;
  auto A = make_operator<T>(this->context_, {"laplace2d", {15, 16}});
  const auto b = random_vectors<T>(this->context_, A.rows(), 1);
  MultiVector<T, HostSpace> B(this->context_, A.rows(), 8);
  for (Index i = 0; i < A.rows(); ++i) {  // rank 1 of 8, sizes far apart
    for (Index j = 0; j < 8; ++j) {
      B.view()(i, j) = static_cast<T>(std::pow(-16, j)) * b.view()(i, 0);
    }
  }
  const auto single = block_cg<T, HostContext>(this->context_, {&A, nullptr, b.view()}, {});
  const auto result = block_cg<T, HostContext>(this->context_, {&A, nullptr, B.view()}, {});
  expect_solved<T>(A.matrix(), B.view(), result);
  EXPECT_LE(result.iterations, single.iterations + 2);
  EXPECT_LE(result.operator_applications, 3 * single.operator_applications);
}

TYPED_TEST(BlockCg, ZeroColumnsGiveZeroAndDoNotTakePart) {
  using T = TypeParam;
  auto A = make_operator<T>(this->context_, {"laplace2d", {15, 16}});
  auto B = random_vectors<T>(this->context_, A.rows(), 5);
  set_zero<T>(this->context_, B.columns(0, 1));
  set_zero<T>(this->context_, B.columns(3, 1));
  const auto guess = random_vectors<T>(this->context_, A.rows(), 5, 1);
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    const auto result =
        block_cg<T, HostContext>(this->context_, {&A, nullptr, B.view(), guess.view()}, options);
    expect_solved<T>(A.matrix(), B.view(), result);
    EXPECT_EQ(result.history.front().active_columns, 3);
    for (Index i = 0; i < A.rows(); ++i) {
      EXPECT_EQ(result.solution.view()(i, 0), T{0});
      EXPECT_EQ(result.solution.view()(i, 3), T{0});
    }
  }
}

TEST(BlockCg, NothingButZeroColumnsConvergesAtOnce) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {5, 6}});
  MultiVector<double, HostSpace> B(context, 30, 2);
  set_zero(context, B.view());
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, {});
  expect_solved<double>(A.matrix(), B.view(), result);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(result.operator_applications, 0);
}

TEST(BlockCg, AnExactGuessConvergesAtOnceAndStaysAsItIs) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {15, 16}});
  const auto exact = random_vectors<double>(context, A.rows(), 4);
  MultiVector<double, HostSpace> B(context, A.rows(), 4);
  A.apply(context, exact.view(), B.view());
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    const auto result =
        block_cg<double, HostContext>(context, {&A, nullptr, B.view(), exact.view()}, options);
    EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(test::all_entries<double>(result.solution.view()),
              test::all_entries<double>(exact.view()));
  }
}

TEST(BlockCg, OneExactColumnAmongOthersIsLeftAlone) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {15, 16}});
  auto guess = random_vectors<double>(context, A.rows(), 4);
  MultiVector<double, HostSpace> B(context, A.rows(), 4);
  A.apply(context, guess.view(), B.view());
  fill_random<double>(context, 3, 3, B.columns(0, 2));
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    const auto result =
        block_cg<double, HostContext>(context, {&A, nullptr, B.view(), guess.view()}, options);
    expect_solved<double>(A.matrix(), B.view(), result);
    EXPECT_EQ(test::all_entries<double>(result.solution.columns(2, 2)),
              test::all_entries<double>(guess.columns(2, 2)));
  }
}

TEST(BlockCg, IdenticalRightHandSidesGiveIdenticalSolutions) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {15, 16}});
  auto B = random_vectors<double>(context, A.rows(), 3);
  copy<double>(context, B.columns(0, 1), B.columns(2, 1));
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, {});
  expect_solved<double>(A.matrix(), B.view(), result);
  for (Index i = 0; i < A.rows(); ++i) {
    EXPECT_NEAR(result.solution.view()(i, 0), result.solution.view()(i, 2), 1e-6);
  }
}

/// e_jᵀ A e_j of every column's error, by a dense matrix.
std::vector<double> squared_energies(const Eigen::MatrixXd& A, const Eigen::MatrixXd& exact,
                                     ConstBlockView<double, HostSpace> X) {
  std::vector<double> energies;
  for (Index j = 0; j < X.cols(); ++j) {
    Eigen::VectorXd e = exact.col(j);
    for (Index i = 0; i < X.rows(); ++i) e(i) -= X(i, j);
    energies.push_back(e.dot(A * e));
  }
  return energies;
}

TEST(BlockCg, TheEnergyNormOfEachErrorNeverGrows) {
  HostContext context;
  auto A = make_operator<double>(context, {"elasticity3d", {3, 3, 3}});
  const Index b = 4;
  const auto B = random_vectors<double>(context, A.rows(), b);
  const Eigen::MatrixXd dense = test::to_dense(A.matrix());
  Eigen::MatrixXd rhs(A.rows(), b);
  for (Index j = 0; j < b; ++j) {
    for (Index i = 0; i < A.rows(); ++i) rhs(i, j) = B.view()(i, j);
  }
  const Eigen::MatrixXd exact = test::solve_definite(dense, rhs);
  JacobiPreconditioner<double, HostContext> M(context, A.matrix());
  for (const CgAlgorithm algorithm : kBoth) {
    std::vector<double> before(b, std::numeric_limits<double>::infinity());
    for (Index steps = 0; steps < 200; ++steps) {
      BlockCgOptions options;
      options.algorithm = algorithm;
      options.max_iterations = steps;
      options.refresh_interval = 7;
      const auto result = block_cg<double, HostContext>(context, {&A, &M, B.view()}, options);
      const auto energies = squared_energies(dense, exact, result.solution.view());
      for (std::size_t j = 0; j < before.size(); ++j) {
        EXPECT_LE(energies[j], before[j] * (1 + 1e-10)) << "column " << j << ", step " << steps;
      }
      before = energies;
      if (result.status == SolveStatus::converged) break;
    }
  }
}

TEST(BlockCg, ColumnsThatConvergeEarlyLeaveAndStaySolved) {
  HostContext context;
  const Index n = 400;
  DiagonalOperator<double> A(counting(n, 1));
  auto B = random_vectors<double>(context, n, 8);
  for (Index j = 0; j < 6; ++j) {  // of two eigenvectors: done after two steps
    set_zero<double>(context, B.columns(j, 1));
    B.view()(50 * j, j) = B.view()(50 * j + 1, j) = 1;
  }
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, options);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    std::set<Index> widths;
    for (const IterationRecord& record : result.history) widths.insert(record.active_columns);
    EXPECT_EQ(*widths.rbegin(), 8);
    EXPECT_EQ(widths.count(2), 1u);
    for (Index j = 0; j < 8; ++j) {
      for (Index i = 0; i < n; ++i) {
        const double expected = B.view()(i, j) / static_cast<double>(i + 1);
        EXPECT_NEAR(result.solution.view()(i, j), expected, 1e-6);
      }
    }
  }
}

TEST(BlockCg, SizesOfRightHandSidesDoNotMatter) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {15, 16}});
  const auto B = random_vectors<double>(context, A.rows(), 3);
  auto scaled = random_vectors<double>(context, A.rows(), 3);
  const int exponents[] = {-900, 0, 900};
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < A.rows(); ++i) {
      scaled.view()(i, j) = std::ldexp(B.view()(i, j), exponents[j]);
    }
  }
  const auto plain = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, {});
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, scaled.view()}, {});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < A.rows(); ++i) {
      EXPECT_EQ(result.solution.view()(i, j),
                std::ldexp(plain.solution.view()(i, j), exponents[j]));
    }
  }
}

TEST(BlockCg, AnAbsoluteToleranceIsMetByEachColumn) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {15, 16}});
  auto B = random_vectors<double>(context, A.rows(), 2);
  for (Index i = 0; i < A.rows(); ++i) B.view()(i, 1) *= 1e6;
  BlockCgOptions options;
  options.criterion = LinearCriterion::absolute;
  options.tolerance = 2e-3;
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, options);
  EXPECT_EQ(result.status, SolveStatus::converged);
  const auto residuals =
      test::true_linear_residuals<double>(A.matrix(), B.view(), result.solution.view());
  RecordProperty("iterations", static_cast<int>(result.iterations));
  for (Index j = 0; j < 2; ++j) {
    double norm = 0;
    for (Index i = 0; i < A.rows(); ++i) norm = std::hypot(norm, B.view()(i, j));
    EXPECT_LE(residuals[static_cast<std::size_t>(j)] * norm, 1.1 * options.tolerance);
  }
}

template <Scalar T>
std::vector<T> solution_bits(int threads, CgAlgorithm algorithm) {
  HostContext context(threads);
  auto A = make_operator<T>(context, {"laplace3d", {14, 15, 16}});
  JacobiPreconditioner<T, HostContext> M(context, A.matrix());
  const auto B = random_vectors<T>(context, A.rows(), 6);
  BlockCgOptions options;
  options.algorithm = algorithm;
  const auto result = block_cg<T, HostContext>(context, {&A, &M, B.view()}, options);
  return test::all_entries<T>(result.solution.view());
}

TYPED_TEST(BlockCg, SameBitsForEveryNumberOfThreadsAndEachTime) {
  for (const CgAlgorithm algorithm : kBoth) {
    const auto bits = solution_bits<TypeParam>(1, algorithm);
    EXPECT_EQ(solution_bits<TypeParam>(1, algorithm), bits);
    EXPECT_EQ(solution_bits<TypeParam>(2, algorithm), bits);
    EXPECT_EQ(solution_bits<TypeParam>(3, algorithm), bits);
  }
}

TEST(BlockCg, CountsProductsHonestly) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {15, 16}});
  const auto B = random_vectors<double>(context, A.rows(), 4);
  const Index before = A.columns_applied();
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, {});
  EXPECT_EQ(result.operator_applications, A.columns_applied() - before);
  EXPECT_LE(result.matrix_passes, result.iterations + 2 + result.iterations / 50);
  EXPECT_GT(result.matrix_passes, result.iterations);  // it was verified
}

}  // namespace
}  // namespace heddle
