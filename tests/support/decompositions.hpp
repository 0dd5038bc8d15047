#pragma once

#include <Eigen/Core>

#include "support/eigen_products.hpp"

/// Dense decompositions by Eigen, the truth that tests compare with. They are compiled once,
/// without sanitizers, because their templates take a compiler longer than a test takes to run.
namespace heddle::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using MatrixXld = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using VectorXld = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

struct DenseEigenpairs {
  VectorXd values;   ///< ascending
  MatrixXd vectors;  ///< a column per value, B-orthonormal
};

/// A x = λ x, and A x = λ B x, for symmetric A and positive definite B; the values are ascending.
VectorXd eigenvalues(const MatrixXd& A);
VectorXd eigenvalues(const MatrixXd& A, const MatrixXd& B);
DenseEigenpairs eigenpairs(const MatrixXd& A);
DenseEigenpairs eigenpairs(const MatrixXd& A, const MatrixXd& B);
VectorXld long_eigenvalues(const MatrixXld& A);

/// Descending, by Jacobi's method.
VectorXd singular_values(const MatrixXd& A);

/// The same by division and conquest: faster, with errors of rounding in the largest value.
VectorXd singular_values_of_large(const MatrixXd& A);

/// An orthonormal basis of all x with Aᵀx = 0, by Jacobi's method. Singular values of A up to
/// `threshold` times the largest one count as 0.
MatrixXd orthogonal_complement(const MatrixXd& A, double threshold);

/// AᵀA, for which a test without optimisation would take seconds.
MatrixXd gram(const MatrixXd& A);

/// X with A X = B for symmetric definite A.
MatrixXd solve_definite(const MatrixXd& A, const MatrixXd& B);

/// Of a matrix that is not singular.
MatrixXd inverse(const MatrixXd& A);

struct DenseLeastSquares {
  MatrixXd solution;
  Eigen::Index rank;  ///< of A, to rounding
};

/// The X of least norm that minimises ‖B − A X‖.
DenseLeastSquares least_squares_solution(const MatrixXd& A, const MatrixXd& B);

/// The number of pivots above `threshold` times the largest one.
Eigen::Index rank(const MatrixXd& A, double threshold);

struct OrthogonalFactors {
  MatrixXd Q;  ///< of the size of A, with orthonormal columns
  MatrixXd R;  ///< upper triangular
};

/// A = Q R by Householder's method, for an A of no more columns than rows.
OrthogonalFactors orthogonal_factors(const MatrixXd& A);

/// The lower triangular L with A = L Lᵀ, 0×0 if A is not positive definite.
MatrixXd cholesky_factor(const MatrixXd& A);

}  // namespace heddle::test
