#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>

#include "solvers/rectangular/singular_support.hpp"

namespace heddle {
namespace {

using test::expect_triplets;
using test::geometric;
using test::options_for;
using test::shifted_diagonal;
using test::SparsePair;
using test::TestMatrix;

/// A = Σ over `rank` of random sparse columns times rows, as triplets: rank-deficient.
template <class T>
TestMatrix<T> low_rank_matrix(Index rows, Index cols, Index rank) {
  TestMatrix<T> matrix = test::matrix_with_pattern<T>(rows, cols, [&](Index) {
    std::vector<Index> columns;
    for (Index j = 0; j < cols; ++j) columns.push_back(j);
    return columns;
  });
  // Row i is row i mod rank, scaled: powers of two keep the rank exact.
  for (Index i = rank; i < rows; ++i) {
    const T factor = static_cast<T>(i / rank % 2 == 0 ? 0.5 : -2);
    for (Index j = 0; j < cols; ++j) {
      matrix.values[static_cast<std::size_t>(i * cols + j)] =
          factor * matrix.values[static_cast<std::size_t>(i % rank * cols + j)];
    }
  }
  return matrix;
}

template <class T>
class SingularTriplets : public ::testing::Test {
 protected:
  SingularResult<T, HostSpace> solve(const TestMatrix<T>& A, const SingularOptions& options) {
    SparsePair<T> operators(context_, A.view());
    return singular_triplets(context_, operators.pair(), options);
  }

  void expect_solved(const TestMatrix<T>& A, const SingularOptions& options) {
    expect_triplets(A.view(), options, solve(A, options));
  }

  HostContext context_{2};
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SingularTriplets, Scalars);

TYPED_TEST(SingularTriplets, BothEndsOfSmallTallWideAndSquareMatrices) {
  for (const Which which : {Which::largest, Which::smallest}) {
    for (const auto& [rows, cols] : {std::pair<Index, Index>{40, 23}, {23, 40}, {31, 31}}) {
      this->expect_solved(test::random_matrix<TypeParam>(rows, cols, 6), options_for(5, which));
    }
  }
}

TYPED_TEST(SingularTriplets, AllOfThem) {
  this->expect_solved(test::random_matrix<TypeParam>(30, 12, 4), options_for(12, Which::largest));
  this->expect_solved(test::random_matrix<TypeParam>(12, 30, 4), options_for(12, Which::smallest));
}

TYPED_TEST(SingularTriplets, OfASingleColumnAndASingleRow) {
  this->expect_solved(test::band_matrix<TypeParam>(50, 1, 50), options_for(1, Which::largest));
  this->expect_solved(test::band_matrix<TypeParam>(1, 50, 50), options_for(1, Which::smallest));
  this->expect_solved(test::band_matrix<TypeParam>(1, 1, 1), options_for(1, Which::largest));
}

TYPED_TEST(SingularTriplets, OfLessThanFullRank) {
  for (const Which which : {Which::largest, Which::smallest}) {
    this->expect_solved(low_rank_matrix<TypeParam>(40, 20, 3), options_for(6, which));
    this->expect_solved(low_rank_matrix<TypeParam>(20, 40, 3), options_for(6, which));
  }
}

/// Columns of all scales times a matrix of less than full rank.
template <class T>
TestMatrix<T> badly_scaled_matrix(Index rows, Index cols, Index rank) {
  TestMatrix<T> matrix = low_rank_matrix<T>(rows, cols, rank);
  for (std::size_t e = 0; e < matrix.values.size(); ++e) {
    matrix.values[e] *= std::pow(T{10}, static_cast<T>(-(matrix.columns[e] * 7 % 61)) / 10);
  }
  return matrix;
}

TYPED_TEST(SingularTriplets, OfBadlyScaledAndNearlySingularMatrices) {
  for (const auto& [rows, cols, rank] :
       {std::array<Index, 3>{143, 143, 143}, {143, 143, 142}, {160, 140, 140}, {150, 200, 3}}) {
    for (const Which which : {Which::largest, Which::smallest}) {
      const auto A = badly_scaled_matrix<TypeParam>(rows, cols, rank);
      this->expect_solved(A, options_for(1, which));
      this->expect_solved(A, options_for(12, which));
    }
  }
}

TYPED_TEST(SingularTriplets, NearlyZeroOnesWhereItIterates) {
  // Far below what the criterion allows, but not zero: A x = u has a solution.
  std::vector<double> sigma{1e-15, 3e-14, 1e-13};
  for (int i = 3; i < 530; ++i) sigma.push_back(1 + 0.01 * i);
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    for (const auto& [rows, cols] : {std::pair<Index, Index>{531, 531}, {540, 530}}) {
      this->expect_solved(shifted_diagonal<TypeParam>(rows, cols, sigma),
                          options_for(5, Which::smallest, solver));
    }
  }
}

TYPED_TEST(SingularTriplets, ZerosAtTheEndOfATallAWideAndASquareMatrix) {
  std::vector<double> sigma(520);
  for (std::size_t i = 0; i < sigma.size(); ++i) sigma[i] = 1 + 0.01 * static_cast<double>(i);
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    for (const auto& [rows, cols] : {std::pair<Index, Index>{700, 523}, {523, 700}, {523, 523}}) {
      // Three zeros among five.
      this->expect_solved(shifted_diagonal<TypeParam>(rows, cols, sigma),
                          options_for(5, Which::smallest, solver));
    }
  }
}

TYPED_TEST(SingularTriplets, OfTheZeroMatrix) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{9, 5}, {700, 600}}) {
    TestMatrix<TypeParam> zero = shifted_diagonal<TypeParam>(rows, cols, {});
    const auto result = this->solve(zero, options_for(3, Which::largest));
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_EQ(result.singular_values, std::vector<double>(3, 0.0));
    EXPECT_EQ(result.residuals, std::vector<double>(3, 0.0));
  }
}

TYPED_TEST(SingularTriplets, ByEachEigensolverWhereItIterates) {
  std::vector<double> sigma;
  for (int i = 0; i < 520; ++i) sigma.push_back(2 + 0.003 * i + (i >= 515 ? 0.3 * (i - 514) : 0));
  for (int i = 0; i < 5; ++i) sigma[static_cast<std::size_t>(i)] = 1 + 0.1 * i;
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    for (const Which which : {Which::largest, Which::smallest}) {
      SingularOptions options = options_for(5, which, solver);
      SparsePair<TypeParam> tall(this->context_,
                                 shifted_diagonal<TypeParam>(700, 520, sigma).view());
      const auto result = singular_triplets(this->context_, tall.pair(), options);
      expect_triplets(tall.matrix(), options, result);
      EXPECT_GT(result.iterations, 0);
      EXPECT_EQ(std::ssize(result.history) > 0, true);
      EXPECT_EQ(result.operator_applications, tall.pair().columns_applied());
    }
  }
}

TYPED_TEST(SingularTriplets, GradedOnesThatNoEigensolverReachesAreDecomposed) {
  const double least = sizeof(TypeParam) == sizeof(double) ? 1e-7 : 1e-4;
  struct Case {
    SingularSolver solver;
    Index rows;
    Index cols;
  };
  for (const auto& [solver, rows, cols] :
       {Case{SingularSolver::block_lanczos, 640, 540}, Case{SingularSolver::lobpcg, 540, 640}}) {
    const auto A = shifted_diagonal<TypeParam>(rows, cols, geometric(530, least));
    const SingularOptions options = options_for(13, Which::smallest, solver);
    const auto result = this->solve(A, options);
    expect_triplets(A.view(), options, result);
    EXPECT_LT(result.operator_applications, 400'000);
  }
}

TYPED_TEST(SingularTriplets, MoreCopiesThanAnyBlockHoldsAreNoTrouble) {
  std::vector<double> sigma(560, 2.0);
  std::fill(sigma.begin() + 300, sigma.end(), 1.0);
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    for (const Which which : {Which::largest, Which::smallest}) {
      const auto A = shifted_diagonal<TypeParam>(600, 560, sigma);
      const SingularOptions options = options_for(6, which, solver);
      const auto result = this->solve(A, options);
      expect_triplets(A.view(), options, result);
      EXPECT_LT(result.operator_applications, 400'000);
    }
  }
}

TEST(SingularTripletsDouble, ScalesWhoseSquaresVanishOrOverflow) {
  std::vector<double> sigma = geometric(530, 1e-2);
  for (const double scale : {1e-120, 1e-170, 1e120, 1e170}) {
    HostContext context(2);
    std::vector<double> scaled;
    for (const double value : sigma) scaled.push_back(scale * value);
    SparsePair<double> pair(context, shifted_diagonal<double>(540, 530, scaled).view());
    for (const Which which : {Which::largest, Which::smallest}) {
      const auto result = singular_triplets(context, pair.pair(), options_for(3, which));
      ASSERT_EQ(result.status, SolveStatus::converged) << scale << ": " << result.reason;
      for (std::size_t j = 0; j < 3; ++j) {
        const double truth = which == Which::largest ? sigma[j] : sigma[sigma.size() - 1 - j];
        EXPECT_NEAR(result.singular_values[j] / scale, truth, 1e-8);
      }
    }
  }
}

TEST(SingularTripletsDouble, SmallValuesKeepTheirDigits) {
  // Squares of 1e−6 relative to 1 are known to 1e−4 of themselves at best.
  std::vector<double> sigma{1e-6, 2e-6, 4e-6};
  for (int i = 3; i < 520; ++i) sigma.push_back(0.5 + 0.5 * i / 520);
  HostContext context(2);
  SparsePair<double> pair(context, shifted_diagonal<double>(530, 520, sigma).view());
  SingularOptions options = options_for(3, Which::smallest);
  const auto result = singular_triplets(context, pair.pair(), options);
  expect_triplets(pair.matrix(), options, result);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(result.singular_values[j], sigma[j], 1e-12);
}

TEST(SingularTripletsDouble, RelativeAndAbsoluteCriteria) {
  std::vector<double> sigma;
  for (int i = 0; i < 520; ++i) sigma.push_back(1000.0 / (1 + i));
  HostContext context(2);
  SparsePair<double> pair(context, shifted_diagonal<double>(530, 520, sigma).view());
  SingularOptions options = options_for(20, Which::largest);
  options.criterion = Criterion::relative;
  options.tolerance = 1e-9;
  auto result = singular_triplets(context, pair.pair(), options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t j = 0; j < 20; ++j) {
    EXPECT_LE(result.residuals[j] * result.norm, 1e-9 * sigma[j]);
  }
  options.criterion = Criterion::absolute;
  options.tolerance = 1e-7;
  result = singular_triplets(context, pair.pair(), options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t j = 0; j < 20; ++j) EXPECT_LE(result.residuals[j] * result.norm, 1e-7);
  EXPECT_NEAR(result.norm, 1000, 1e-6);
}

TEST(SingularTripletsDouble, ZerosByEachCriterion) {
  std::vector<double> sigma(520);
  for (std::size_t i = 0; i < sigma.size(); ++i) sigma[i] = 3 + 0.04 * static_cast<double>(i);
  HostContext context(2);
  SparsePair<double> pair(context, shifted_diagonal<double>(700, 522, sigma).view());
  for (const Criterion criterion : {Criterion::norm, Criterion::relative, Criterion::absolute}) {
    SingularOptions options = options_for(3, Which::smallest);
    options.criterion = criterion;
    options.tolerance = 1e-9;
    const auto result = singular_triplets(context, pair.pair(), options);
    expect_triplets(pair.matrix(), options, result);
    EXPECT_LE(result.singular_values[1], 1e-13 * result.norm);
    EXPECT_NEAR(result.singular_values[2], 3, 1e-9 * result.norm);
  }
}

}  // namespace
}  // namespace heddle
