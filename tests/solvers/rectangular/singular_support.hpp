#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <set>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "solvers/rectangular/adjoint_support.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

/// Matrices with known singular values, and what their triplets must fulfil.
namespace heddle::test {

/// All singular values, descending: |entries| where no row or column has two, else those of a dense
/// decomposition.
template <class T>
Eigen::VectorXd true_singular_values(const CsrView<T, HostSpace>& A) {
  std::set<std::int32_t> columns;
  bool alone = true;
  for (Index i = 0; i < A.rows; ++i) alone &= A.row_offsets[i + 1] - A.row_offsets[i] <= 1;
  for (Index e = 0; e < A.nnz; ++e) alone &= columns.insert(A.columns[e]).second;
  if (!alone) return singular_values(to_dense(A));
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
  const Eigen::MatrixXd dense = to_dense(A);
  const Eigen::VectorXd truth = true_singular_values(A);
  const double norm = truth[0];
  const double n = static_cast<double>(A.rows + A.cols);
  const double rounding = test::tolerance<T>(norm, n);
  const double tolerance = options.tolerance == 0 ? kDefaultTolerance<T> : options.tolerance;
  const double allowed = tolerance * norm + rounding;
  const Eigen::MatrixXd U = to_dense<T>(result.left_vectors.columns(0, k));
  const Eigen::MatrixXd V = to_dense<T>(result.right_vectors.columns(0, k));
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

/// rows×cols with σ_i on its diagonal, shifted by one row: empty rows and columns beside them.
template <class T>
TestMatrix<T> shifted_diagonal(Index rows, Index cols, const std::vector<double>& sigma) {
  TestMatrix<T> matrix = matrix_with_pattern<T>(rows, cols, [&](Index i) {
    const bool stored = i >= 1 && i <= std::ssize(sigma);
    return stored ? std::vector<Index>{i - 1} : std::vector<Index>{};
  });
  for (std::size_t i = 0; i < sigma.size(); ++i) matrix.values[i] = static_cast<T>(sigma[i]);
  return matrix;
}

/// `count` values from 1 down to `least`, in equal ratios.
inline std::vector<double> geometric(int count, double least) {
  std::vector<double> sigma;
  for (int i = 0; i < count; ++i) sigma.push_back(std::pow(least, i / (count - 1.0)));
  return sigma;
}

/// Otherwise default options.
inline SingularOptions options_for(Index nev, Which which,
                                   SingularSolver solver = SingularSolver::automatic) {
  SingularOptions options;
  options.nev = nev;
  options.which = which;
  options.solver = solver;
  return options;
}

}  // namespace heddle::test
