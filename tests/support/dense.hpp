#pragma once

#include <Eigen/Core>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/views.hpp>
#include <support/decompositions.hpp>

namespace heddle::test {

/// A dense matrix in double, complex for a complex T.
template <Scalar T>
using WideMatrix = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;

/// A as a dense matrix. Duplicate entries are summed.
template <Scalar T>
WideMatrix<T> to_dense(const CsrView<T, HostSpace>& A) {
  WideMatrix<T> dense = WideMatrix<T>::Zero(A.rows, A.cols);
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      dense(i, A.columns[k]) += static_cast<Wide<T>>(A.values[k]);
    }
  }
  return dense;
}

/// A block as a dense matrix.
template <Scalar T>
WideMatrix<T> to_dense(ConstBlockView<T, HostSpace> X) {
  WideMatrix<T> dense(X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) dense(i, j) = static_cast<Wide<T>>(X(i, j));
  }
  return dense;
}

/// [Re A, −Im A; Im A, Re A]: each eigenvalue and each singular value of A twice.
inline Eigen::MatrixXd real_form(const Eigen::MatrixXcd& A) {
  Eigen::MatrixXd form(2 * A.rows(), 2 * A.cols());
  form << A.real(), -A.imag(), A.imag(), A.real();
  return form;
}

/// The complex matrix whose real form has these first columns, [Re X; Im X].
inline Eigen::MatrixXcd complex_form(const Eigen::MatrixXd& columns) {
  const Index rows = columns.rows() / 2;
  return columns.topRows(rows) + std::complex<double>(0, 1) * columns.bottomRows(rows);
}

/// A dense matrix as a block, with entries rounded to T.
template <Scalar T>
MultiVector<T, HostSpace> to_block(HostContext& context, const Eigen::MatrixXd& dense) {
  MultiVector<T, HostSpace> block(context, dense.rows(), dense.cols());
  for (Index i = 0; i < block.rows(); ++i) {
    for (Index j = 0; j < block.cols(); ++j) block.view()(i, j) = static_cast<T>(dense(i, j));
  }
  return block;
}

}  // namespace heddle::test
