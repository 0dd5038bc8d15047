#include "support/decompositions.hpp"

#include <Eigen/Dense>

#if !EIGEN_VERSION_AT_LEAST(3, 4, 90)
namespace Eigen::internal {
template struct gebp_kernel<double, double, Index, blas_data_mapper<double, Index, ColMajor>,
                            gebp_traits<double, double>::mr, gebp_traits<double, double>::nr, false,
                            false>;
}  // namespace Eigen::internal
#endif

namespace heddle::test {
namespace {

template <class Matrix>
auto values_of(const Matrix& A) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace

VectorXd eigenvalues(const MatrixXd& A) { return values_of(A); }

VectorXld long_eigenvalues(const MatrixXld& A) { return values_of(A); }

VectorXd eigenvalues(const MatrixXd& A, const MatrixXd& B) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(A, B, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

DenseEigenpairs eigenpairs(const MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

DenseEigenpairs eigenpairs(const MatrixXd& A, const MatrixXd& B) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(A, B);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd singular_values(const MatrixXd& A) {
  return Eigen::JacobiSVD<MatrixXd>(A).singularValues();
}

VectorXd singular_values_of_large(const MatrixXd& A) {
  return Eigen::BDCSVD<MatrixXd>(A).singularValues();
}

MatrixXd orthogonal_complement(const MatrixXd& A, double threshold) {
  const Eigen::JacobiSVD<MatrixXd> svd(A, Eigen::ComputeFullU);
  const VectorXd& values = svd.singularValues();
  const Eigen::Index rank = (values.array() > threshold * values[0]).count();
  return svd.matrixU().rightCols(A.rows() - rank);
}

MatrixXd gram(const MatrixXd& A) { return A.transpose() * A; }

MatrixXd solve_definite(const MatrixXd& A, const MatrixXd& B) { return A.ldlt().solve(B); }

MatrixXd inverse(const MatrixXd& A) { return A.inverse(); }

DenseLeastSquares least_squares_solution(const MatrixXd& A, const MatrixXd& B) {
  const Eigen::CompleteOrthogonalDecomposition<MatrixXd> factors(A);
  return {factors.solve(B), factors.rank()};
}

Eigen::Index rank(const MatrixXd& A, double threshold) {
  return Eigen::FullPivLU<MatrixXd>(A).setThreshold(threshold).rank();
}

OrthogonalFactors orthogonal_factors(const MatrixXd& A) {
  const Eigen::HouseholderQR<MatrixXd> factors(A);
  return {factors.householderQ() * MatrixXd::Identity(A.rows(), A.cols()),
          factors.matrixQR().topRows(A.cols()).triangularView<Eigen::Upper>()};
}

MatrixXd cholesky_factor(const MatrixXd& A) {
  const Eigen::LLT<MatrixXd> factors(A);
  if (factors.info() != Eigen::Success) return {};
  return factors.matrixL();
}

}  // namespace heddle::test
