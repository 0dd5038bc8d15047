#pragma once

#include <Eigen/Core>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/views.hpp>
#include <support/decompositions.hpp>

namespace heddle::test {

/// A as a dense matrix in double. Duplicate entries are summed.
template <class T>
Eigen::MatrixXd to_dense(const CsrView<T, HostSpace>& A) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.rows, A.cols);
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      dense(i, A.columns[k]) += static_cast<double>(A.values[k]);
    }
  }
  return dense;
}

/// A block as a dense matrix in double.
template <class T>
Eigen::MatrixXd to_dense(ConstBlockView<T, HostSpace> X) {
  Eigen::MatrixXd dense(X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) dense(i, j) = static_cast<double>(X(i, j));
  }
  return dense;
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
