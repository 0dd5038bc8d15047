#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/triangular_solves.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/iterated_solves.hpp>
#include <limits>

#include "solvers/linear_test_support.hpp"
#include "solvers/preconditioners/incomplete_cholesky/symmetric_matrices.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

using test::random_vectors;
using test::tolerance;

template <class T>
class IncompleteCholesky : public ::testing::Test {
 protected:
  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(IncompleteCholesky, Scalars);

template <Scalar T>
Eigen::MatrixXd to_eigen(ConstBlockView<T, HostSpace> X) {
  Eigen::MatrixXd dense(X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) dense(i, j) = static_cast<double>(X(i, j));
  }
  return dense;
}

/// IC(0) of a dense matrix as the textbook has it: column by column, entries of the pattern only.
Eigen::MatrixXd textbook_factor(Eigen::MatrixXd A) {
  const Index n = A.rows();
  for (Index k = 0; k < n; ++k) {
    A(k, k) = std::sqrt(A(k, k));
    for (Index i = k + 1; i < n; ++i) A(i, k) /= A(k, k);
    for (Index j = k + 1; j < n; ++j) {
      for (Index i = j; i < n; ++i) {
        if (A(i, j) != 0) A(i, j) -= A(i, k) * A(j, k);
      }
    }
  }
  return A.triangularView<Eigen::Lower>();
}

TYPED_TEST(IncompleteCholesky, AgreesWithTheTextbook) {
  using T = TypeParam;
  for (const GallerySpec& spec : {GallerySpec{"laplace2d", {7, 8}}, {"stencil27", {4, 4, 4}}}) {
    const auto A = generate<T>(this->context_, spec);
    const auto factor = detail::incomplete_cholesky<T>(this->context_, A.view());
    const Eigen::MatrixXd expected = textbook_factor(test::to_dense(A.view()));
    const double size = expected.cwiseAbs().maxCoeff();
    EXPECT_EQ(factor.shift, 0);
    EXPECT_EQ(factor.attempts, 1);
    EXPECT_LE((test::to_dense(factor.L.view()) - expected).cwiseAbs().maxCoeff(),
              tolerance<T>(size, static_cast<double>(A.rows())));
  }
}

TYPED_TEST(IncompleteCholesky, ProductOfFactorsIsTheMatrixOnItsPattern) {
  using T = TypeParam;
  const auto A = generate<T>(this->context_, {"laplace3d", {5, 5, 5}});
  const auto factor = detail::incomplete_cholesky<T>(this->context_, A.view());
  const Eigen::MatrixXd dense = test::to_dense(A.view());
  const Eigen::MatrixXd L = test::to_dense(factor.L.view());
  const Eigen::MatrixXd difference = L * L.transpose() - dense;
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.rows(); ++j) {
      if (dense(i, j) == 0) continue;
      EXPECT_NEAR(difference(i, j), 0, tolerance<T>(6, 6));
    }
  }
}

TYPED_TEST(IncompleteCholesky, WithoutFillItIsTheCholeskyFactor) {
  using T = TypeParam;
  const auto A = generate<T>(this->context_, {"laplace1d", {200}});  // tridiagonal: no fill
  IncompleteCholeskyPreconditioner<T, HostContext> M(this->context_, A.view());
  const auto B = random_vectors<T>(this->context_, 200, 3);
  MultiVector<T, HostSpace> X(this->context_, 200, 3);
  M.apply(this->context_, B.view(), X.view());
  const Eigen::MatrixXd expected =
      test::solve_definite(test::to_dense(A.view()), to_eigen<T>(B.view()));
  EXPECT_LE((to_eigen<T>(X.view()) - expected).norm(),
            tolerance<T>(expected.norm(), 200, 16.0 * 200));  // κ ~ n²
}

/// Substitution row by row.
Eigen::MatrixXd solve_dense(const Eigen::MatrixXd& L, Eigen::MatrixXd X) {
  L.triangularView<Eigen::Lower>().solveInPlace(X);
  L.transpose().triangularView<Eigen::Upper>().solveInPlace(X);
  return X;
}

TYPED_TEST(IncompleteCholesky, LevelsSolveAsSubstitutionDoes) {
  using T = TypeParam;
  const auto A = generate<T>(this->context_, {"laplace3d", {9, 10, 11}});
  auto factor = detail::incomplete_cholesky<T>(this->context_, A.view());
  const Eigen::MatrixXd L = test::to_dense(factor.L.view());
  detail::TriangularSolves<T, HostContext> solves(this->context_, factor.L.view());
  EXPECT_EQ(solves.levels(), 9 + 10 + 11 - 2);
  for (const Index b : {1, 3, 4, 7, 16, 21}) {
    const auto X = random_vectors<T>(this->context_, A.rows(), b);
    MultiVector<T, HostSpace> Y(this->context_, A.rows(), b);
    solves.solve(this->context_, X.view(), Y.view());
    const Eigen::MatrixXd expected = solve_dense(L, to_eigen<T>(X.view()));
    EXPECT_LE((to_eigen<T>(Y.view()) - expected).norm(), tolerance<T>(expected.norm(), 100));
    copy<T>(this->context_, X.view(), Y.view());
    solves.solve(this->context_, Y.view(), Y.view());  // in place
    EXPECT_LE((to_eigen<T>(Y.view()) - expected).norm(), tolerance<T>(expected.norm(), 100));
  }
}

TYPED_TEST(IncompleteCholesky, SweepsAreTheTruncatedNeumannSeries) {
  using T = TypeParam;
  const auto A = generate<T>(this->context_, {"laplace2d", {8, 9}});
  auto factor = detail::incomplete_cholesky<T>(this->context_, A.view());
  const Eigen::MatrixXd L = test::to_dense(factor.L.view());
  detail::IteratedSolves<T, HostContext> solves(this->context_, factor.L.view());
  const Index n = A.rows();
  MultiVector<T, HostSpace> I(this->context_, n, n);
  MultiVector<T, HostSpace> Y(this->context_, n, n);
  set_identity<T>(this->context_, I.view());
  solves.solve(this->context_, I.view(), Y.view());
  EXPECT_EQ(solves.sweeps(), 4);
  const Eigen::VectorXd d = L.diagonal().cwiseInverse();
  const Eigen::MatrixXd iteration = Eigen::MatrixXd::Identity(n, n) - d.asDiagonal() * L;  // −D⁻¹N
  Eigen::MatrixXd K = d.asDiagonal();
  for (int k = 0; k < solves.sweeps(); ++k) {
    K = iteration * K + Eigen::MatrixXd(d.asDiagonal());
  }
  const Eigen::MatrixXd M = to_eigen<T>(Y.view());
  EXPECT_LE((M - K.transpose() * K).norm(), tolerance<T>(M.norm(), 16));
  EXPECT_GT(test::eigenvalues(M)(0), 0);
}

TYPED_TEST(IncompleteCholesky, SweepsThatWouldGrowAreLeftOut) {
  using T = TypeParam;
  const Index n = 50;
  for (const auto& [beside, sweeps] : std::vector<std::pair<double, int>>{{3, 0}, {0.5, 4}}) {
    std::vector<Triplet<T>> entries;
    for (Index i = 0; i < n; ++i) {
      if (i > 0) entries.push_back({i, i - 1, static_cast<T>(beside)});
      entries.push_back({i, i, T{1}});
    }
    detail::IteratedSolves<T, HostContext> solves(
        this->context_, csr_from_triplets<T>(this->context_, n, n, entries).view());
    EXPECT_EQ(solves.sweeps(), sweeps);
    const auto X = random_vectors<T>(this->context_, n, 2);
    MultiVector<T, HostSpace> Y(this->context_, n, 2);
    solves.solve(this->context_, X.view(), Y.view());
    if (sweeps == 0) {
      EXPECT_EQ(test::all_entries<T>(Y.view()), test::all_entries<T>(X.view()));
    }
  }
}

TYPED_TEST(IncompleteCholesky, SameBitsForEveryNumberOfThreads) {
  using T = TypeParam;
  std::vector<T> bits;
  for (const int threads : {1, 2, 3, 1}) {
    HostContext context(threads);
    const auto A = generate<T>(context, {"laplace3d", {20, 21, 22}});
    IncompleteCholeskyPreconditioner<T, HostContext> M(context, A.view());
    const auto X = random_vectors<T>(context, A.rows(), 5);
    MultiVector<T, HostSpace> Y(context, A.rows(), 5);
    M.apply(context, X.view(), Y.view());
    const std::vector<T> now = test::all_entries<T>(Y.view());
    if (bits.empty()) bits = now;
    EXPECT_EQ(now, bits);
  }
}

/// A matrix on which IC(0) breaks down although it is positive definite.
/// Source: Kershaw, J. Comput. Phys. 26 (1978) 43.
template <Scalar T>
HostCsrMatrix<T> kershaw(HostContext& context) {
  const std::vector<Triplet<T>> entries = {{0, 0, 3},  {0, 1, -2}, {0, 3, 2},  {1, 0, -2},
                                           {1, 1, 3},  {1, 2, -2}, {2, 1, -2}, {2, 2, 3},
                                           {2, 3, -2}, {3, 0, 2},  {3, 2, -2}, {3, 3, 3}};
  return csr_from_triplets<T>(context, 4, 4, entries);
}

TYPED_TEST(IncompleteCholesky, AShiftSavesAPivotThatIsLost) {
  using T = TypeParam;
  const auto A = kershaw<T>(this->context_);
  ASSERT_GT(test::eigenvalues(test::to_dense(A.view()))(0), 0);
  const auto factor = detail::incomplete_cholesky<T>(this->context_, A.view());
  EXPECT_GT(factor.attempts, 1);
  EXPECT_GT(factor.shift, 0);
  EXPECT_LT(factor.shift, 1);
  const Eigen::MatrixXd shifted =
      test::to_dense(A.view()) + 3 * factor.shift * Eigen::MatrixXd::Identity(4, 4);
  EXPECT_LE((test::to_dense(factor.L.view()) - textbook_factor(shifted)).norm(),
            tolerance<T>(3, 4));
  IncompleteCholeskyPreconditioner<T, HostContext> M(this->context_, A.view());
  EXPECT_EQ(M.shift(), factor.shift);
}

TYPED_TEST(IncompleteCholesky, IsPositiveDefiniteForEverySymmetricMatrix) {
  using T = TypeParam;
  for (const auto& A : test::symmetric_matrices_without_factor<T>(this->context_)) {
    for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
      IncompleteCholeskyPreconditioner<T, HostContext> M(this->context_, A.view(), solve);
      MultiVector<T, HostSpace> I(this->context_, 3, 3);
      MultiVector<T, HostSpace> Y(this->context_, 3, 3);
      set_identity<T>(this->context_, I.view());
      M.apply(this->context_, I.view(), Y.view());
      EXPECT_GT(test::eigenvalues(to_eigen<T>(Y.view()))(0), 0);
    }
  }
}

TYPED_TEST(IncompleteCholesky, ReportsWhatItsSetupTook) {
  using T = TypeParam;
  const auto A = generate<T>(this->context_, {"laplace2d", {30, 31}});
  for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
    const auto before = this->context_.allocation_count().live_bytes;
    IncompleteCholeskyPreconditioner<T, HostContext> M(this->context_, A.view(), solve);
    EXPECT_EQ(M.setup_cost().bytes(), this->context_.allocation_count().live_bytes - before);
    EXPECT_GE(M.setup_cost().bytes(), static_cast<std::size_t>(A.nnz()) * sizeof(T));
    EXPECT_GT(M.setup_cost().seconds(), 0);
  }
}

TEST(IncompleteCholeskyMisuse, IsNamed) {
  HostContext context;
  const auto wide = csr_from_triplets<double>(context, 2, 3, std::vector<Triplet<double>>{});
  using IC = IncompleteCholeskyPreconditioner<double, HostContext>;
  EXPECT_THROW(IC(context, wide.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
