#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/rectangular/null_vectors.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <limits>
#include <set>
#include <string>

#include "solvers/eigen_test_support.hpp"
#include "solvers/rectangular/adjoint_support.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::SparsePair;
using test::TestMatrix;

/// All singular values, descending: |entries| where no row or column has two, else those of a dense
/// decomposition.
template <class T>
Eigen::VectorXd true_singular_values(const CsrView<T, HostSpace>& A) {
  std::set<std::int32_t> columns;
  bool alone = true;
  for (Index i = 0; i < A.rows; ++i) alone &= A.row_offsets[i + 1] - A.row_offsets[i] <= 1;
  for (Index e = 0; e < A.nnz; ++e) alone &= columns.insert(A.columns[e]).second;
  if (!alone) return Eigen::JacobiSVD<Eigen::MatrixXd>(test::to_dense(A)).singularValues();
  Eigen::VectorXd sigma = Eigen::VectorXd::Zero(std::min(A.rows, A.cols));
  for (Index e = 0; e < A.nnz; ++e) sigma[e] = std::abs(static_cast<double>(A.values[e]));
  std::sort(sigma.begin(), sigma.end(), std::greater<>());
  return sigma;
}

/// The triplets are as many as asked for, agree with a dense decomposition, and U and V are
/// orthonormal and fit A; all of it by products of our own.
template <class T>
void expect_triplets(const CsrView<T, HostSpace>& A, const SingularOptions& options,
                     const SingularResult<T, HostSpace>& result) {
  SCOPED_TRACE(::testing::Message() << A.rows << "x" << A.cols << ", nev " << options.nev);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const Index k = options.nev;
  ASSERT_EQ(std::ssize(result.singular_values), k);
  const Eigen::MatrixXd dense = test::to_dense(A);
  const Eigen::VectorXd truth = true_singular_values(A);
  const double norm = truth[0];
  const double n = static_cast<double>(A.rows + A.cols);
  const double rounding = test::tolerance<T>(norm, n);
  const double tolerance = options.tolerance == 0 ? kDefaultTolerance<T> : options.tolerance;
  const double allowed = tolerance * norm + rounding;
  const Eigen::MatrixXd U = test::to_dense<T>(result.left_vectors.columns(0, k));
  const Eigen::MatrixXd V = test::to_dense<T>(result.right_vectors.columns(0, k));
  ASSERT_EQ(U.rows(), A.rows);
  ASSERT_EQ(V.rows(), A.cols);
  for (Index j = 0; j < k; ++j) {
    const double sigma = result.singular_values[static_cast<std::size_t>(j)];
    const Index rank = options.which == Which::largest ? j : truth.size() - 1 - j;
    EXPECT_NEAR(sigma, truth[rank], allowed) << "triplet " << j;
    EXPECT_LE((dense * V.col(j) - sigma * U.col(j)).norm(), allowed) << "triplet " << j;
    EXPECT_LE((dense.transpose() * U.col(j) - sigma * V.col(j)).norm(), allowed) << "triplet " << j;
    EXPECT_LE(result.residuals[static_cast<std::size_t>(j)] * norm, allowed);
  }
  const double orthogonal = test::tolerance<T>(1, n, 64);
  const Eigen::MatrixXd I = Eigen::MatrixXd::Identity(k, k);
  EXPECT_LE((U.transpose() * U - I).cwiseAbs().maxCoeff(), orthogonal);
  EXPECT_LE((V.transpose() * V - I).cwiseAbs().maxCoeff(), orthogonal);
  EXPECT_LE(result.orthogonality, orthogonal);
}

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

/// rows×cols with σ_i on its diagonal, shifted by one row: empty rows and columns beside them.
template <class T>
TestMatrix<T> shifted_diagonal(Index rows, Index cols, const std::vector<double>& sigma) {
  TestMatrix<T> matrix = test::matrix_with_pattern<T>(rows, cols, [&](Index i) {
    const bool stored = i >= 1 && i <= std::ssize(sigma);
    return stored ? std::vector<Index>{i - 1} : std::vector<Index>{};
  });
  for (std::size_t i = 0; i < sigma.size(); ++i) matrix.values[i] = static_cast<T>(sigma[i]);
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

SingularOptions options_for(Index nev, Which which,
                            SingularSolver solver = SingularSolver::automatic) {
  SingularOptions options;
  options.nev = nev;
  options.which = which;
  options.solver = solver;
  return options;
}

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

TEST(SingularTripletsDouble, HistoryCountsOnFromRoundToRound) {
  HostContext context(2);
  std::vector<double> sigma{1e-3, 2e-3, 4e-3};
  for (int i = 3; i < 520; ++i) sigma.push_back(0.5 + 0.5 * i / 520);
  SparsePair<double> pair(context, shifted_diagonal<double>(530, 520, sigma).view());
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    SingularOptions options = options_for(3, Which::smallest, solver);
    options.criterion = Criterion::relative;
    std::vector<IterationRecord> seen;
    const Index before = pair.pair().columns_applied();
    const auto result =
        singular_triplets(context, pair.pair(), options, [&](const MonitorState& state) {
          seen.push_back(state.record);
          EXPECT_LE(state.record.operator_applications, pair.pair().columns_applied() - before);
          return true;
        });
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (const std::vector<IterationRecord>& records : {result.history, seen}) {
      ASSERT_FALSE(records.empty());
      for (std::size_t i = 1; i < records.size(); ++i) {
        EXPECT_GE(records[i].iteration, records[i - 1].iteration);
        EXPECT_GE(records[i].seconds, records[i - 1].seconds);
        EXPECT_GE(records[i].operator_applications, records[i - 1].operator_applications);
      }
      EXPECT_EQ(records.back().iteration, result.iterations);
      EXPECT_GT(records.back().operator_applications, result.operator_applications / 2);
    }
  }
}

/// `count` values from 1 down to `least`, in equal ratios.
std::vector<double> geometric(int count, double least) {
  std::vector<double> sigma;
  for (int i = 0; i < count; ++i) sigma.push_back(std::pow(least, i / (count - 1.0)));
  return sigma;
}

TYPED_TEST(SingularTriplets, GradedOnesThatNoEigensolverReachesAreDecomposed) {
  const double least = sizeof(TypeParam) == sizeof(double) ? 1e-7 : 1e-4;
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    for (const auto& [rows, cols] : {std::pair<Index, Index>{640, 540}, {540, 640}}) {
      const auto A = shifted_diagonal<TypeParam>(rows, cols, geometric(530, least));
      const SingularOptions options = options_for(13, Which::smallest, solver);
      const auto result = this->solve(A, options);
      expect_triplets(A.view(), options, result);
      EXPECT_LT(result.operator_applications, 400'000);
    }
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

TEST(SingularTripletsDouble, TheSearchForVectorsOfZerosCanBeStopped) {
  HostContext context(2);
  const std::vector<double> sigma(520, 1.0);
  SparsePair<double> pair(context, shifted_diagonal<double>(700, 522, sigma).view());
  const Monitor stop_block_cg = [](const MonitorState& state) {
    return !state.eigenvalues.empty();
  };
  const auto result =
      singular_triplets(context, pair.pair(), options_for(3, Which::smallest), stop_block_cg);
  EXPECT_EQ(result.status, SolveStatus::interrupted) << result.reason;
  EXPECT_NE(result.reason.find("vectors of the longer side"), std::string::npos) << result.reason;
  EXPECT_EQ(std::ssize(result.residuals), 3);
}

TEST(SingularTripletsDouble, CountsOrthonormalisations) {
  HostContext context(1);
  SparsePair<double> pair(context,
                          shifted_diagonal<double>(6000, 520, std::vector<double>(3, 1.0)).view());
  const auto counts = [&](Index nev, Which which, SingularSolver solver) {
    return singular_triplets(context, pair.pair(), options_for(nev, which, solver))
        .orthogonalization;
  };
  const OrthoCounts dense = counts(140, Which::largest, SingularSolver::automatic);
  EXPECT_EQ(dense.dropped, 517);
  EXPECT_GT(dense.cholqr + dense.cholqr2 + dense.shifted + dense.svqb, 0);
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    const OrthoCounts iterated = counts(2, Which::smallest, solver);
    EXPECT_GT(iterated.cholqr + iterated.cholqr2, 0);
  }
}

TEST(NullVectors, ThatDoNotExistAreNotFound) {
  HostContext context(2);
  SparsePair<double> pair(context,
                          shifted_diagonal<double>(31, 30, std::vector<double>(30, 1.0)).view());
  OrthoCounts counts;
  const Monitor no_monitor;
  NullVectorOptions options;
  options.limit = 1e-8;
  const StopControl ending(1000, 1e9);
  for (const Index columns : {1, 2}) {
    MultiVector<double, HostSpace> U(context, 31, columns);
    NullVectors<double, HostContext> search(context, pair.pair(), options, ending, no_monitor);
    // Only the first row is empty.
    EXPECT_EQ(search.find({}, U.view(), counts),
              columns == 1 ? SolveStatus::converged : SolveStatus::verification_failed);
    if (columns == 1) {
      EXPECT_NEAR(std::abs(U.view()(0, 0)), 1, test::tolerance<double>(1, 31));
    }
  }
}

TEST(SingularTripletsDouble, SaysWhenItStoppedEarly) {
  std::vector<double> sigma;
  for (int i = 0; i < 600; ++i) sigma.push_back(1 + 1e-3 * i);
  HostContext context(2);
  SparsePair<double> pair(context, shifted_diagonal<double>(601, 600, sigma).view());
  SingularOptions options = options_for(4, Which::smallest, SingularSolver::lobpcg);
  options.max_iterations = 2;
  const auto result = singular_triplets(context, pair.pair(), options);
  EXPECT_EQ(result.status, SolveStatus::max_iterations) << result.reason;
  EXPECT_EQ(std::ssize(result.singular_values), 4);
  options.max_iterations = 1000;
  const auto stopped =
      singular_triplets(context, pair.pair(), options, [](const MonitorState&) { return false; });
  EXPECT_EQ(stopped.status, SolveStatus::interrupted) << stopped.reason;
}

TEST(SingularTripletsDouble, NothingIsDecomposedThatWouldOutlastTheTimeLimit) {
  HostContext context(2);
  SparsePair<double> pair(context,
                          shifted_diagonal<double>(1201, 1200, geometric(1200, 1e-6)).view());
  SingularOptions options = options_for(2, Which::smallest, SingularSolver::lobpcg);
  options.time_limit_s = 4;  // the decomposition is thought to take 5
  const auto result = singular_triplets(context, pair.pair(), options);
  EXPECT_NE(result.status, SolveStatus::converged) << result.reason;
  EXPECT_GT(result.iterations, 0);
}

TEST(SingularTripletsDouble, NumbersThatAreNotFiniteAreABreakdown) {
  HostContext context(2);
  for (const Index cols : {20, 600}) {
    TestMatrix<double> A = test::band_matrix<double>(610, cols, 2);
    A.values[5] = std::numeric_limits<double>::quiet_NaN();
    SparsePair<double> pair(context, A.view());
    const auto result = singular_triplets(context, pair.pair(), options_for(2, Which::largest));
    EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
  }
}

TEST(SingularTripletsDouble, MemoryIsForetold) {
  std::vector<double> sigma(300);
  for (std::size_t i = 0; i < sigma.size(); ++i) sigma[i] = 1 + 0.01 * static_cast<double>(i);
  const auto foretold = [&](Index rows, Index cols, const SingularOptions& options) {
    SCOPED_TRACE(::testing::Message() << rows << "x" << cols << ", nev " << options.nev);
    HostContext context;
    const auto last = sigma.begin() + std::min<Index>(std::ssize(sigma), cols);
    SparsePair<double> pair(context,
                            shifted_diagonal<double>(rows, cols, {sigma.begin(), last}).view());
    const auto before = static_cast<double>(context.allocation_count().live_bytes);
    const auto result = singular_triplets(context, pair.pair(), options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    const double peak = static_cast<double>(context.allocation_count().peak_bytes) - before;
    const double bytes = singular_memory_bytes(options, rows, cols, sizeof(double));
    EXPECT_LE(peak, 1.2 * bytes);  // as near as the eigensolvers' own
    EXPECT_GE(peak, 0.6 * bytes);
  };
  foretold(2000, 300, options_for(80, Which::largest));   // decomposed on the host
  foretold(10000, 120, options_for(30, Which::largest));  // as a dense problem
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    foretold(2000, 1000, options_for(6, Which::largest, solver));
    foretold(9000, 320, options_for(6, Which::smallest, solver));  // vectors of zeros
    foretold(600, 2000, options_for(6, Which::smallest, solver));
  }
  sigma = geometric(600, 1e-6);
  foretold(2000, 600, options_for(2, Which::smallest));  // decomposed after an eigensolver
}

TEST(SingularTripletsDouble, SameBitsForEveryNumberOfThreads) {
  const auto matrix = test::random_matrix<double>(1200, 900, 5);
  std::vector<double> first;
  for (const int threads : {1, 3}) {
    HostContext context(threads);
    SparsePair<double> pair(context, matrix.view());
    const auto result = singular_triplets(context, pair.pair(), options_for(4, Which::largest));
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    if (threads == 1) first = result.singular_values;
    EXPECT_EQ(result.singular_values, first);
  }
}

TEST(SingularTripletsDouble, MisuseNamesBothSides) {
  HostContext context(1);
  SparsePair<double> pair(context, test::band_matrix<double>(7, 4, 2).view());
  SparsePair<double> other(context, test::band_matrix<double>(4, 6, 2).view());
  const auto message = [&](const AdjointPair<double, HostContext>& operators,
                           const SingularOptions& options) -> std::string {
    try {
      singular_triplets(context, operators, options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const SingularOptions fine = options_for(2, Which::largest);
  EXPECT_EQ(message({nullptr, pair.pair().A}, fine),
            "singular_triplets: both A and its transpose are needed, A is missing");
  EXPECT_EQ(message({pair.pair().A, other.pair().A}, fine),
            "singular_triplets: A is 7x4, what is given as its transpose 4x6");
  EXPECT_EQ(message(pair.pair(), options_for(5, Which::largest)),
            "singular_triplets: nev must be at least 1 and at most the shorter side of A, 4; it "
            "is 5");
  SingularOptions bad = fine;
  bad.tolerance = 2;
  EXPECT_EQ(message(pair.pair(), bad),
            "singular_triplets: the tolerance must lie in (0, 1), it is 2");
  bad.criterion = Criterion::absolute;
  bad.tolerance = 0;
  EXPECT_EQ(message(pair.pair(), bad),
            "singular_triplets: an absolute tolerance must be positive, it is 0");
}

}  // namespace
}  // namespace heddle
