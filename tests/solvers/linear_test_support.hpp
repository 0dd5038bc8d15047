#pragma once

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle::test {

/// An n×b block with entries uniform in (−1, 1).
template <Scalar T>
MultiVector<T, HostSpace> random_vectors(HostContext& context, Index n, Index b,
                                         std::uint64_t stream = 0) {
  MultiVector<T, HostSpace> block(context, n, b);
  fill_random<T>(context, 7, stream, block.view());
  return block;
}

/// ‖b − A x‖₂/‖b‖₂ of each column by a plain product in double; 0 for b = 0 and x = 0.
template <Scalar T>
std::vector<double> true_linear_residuals(CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                                          ConstBlockView<T, HostSpace> X) {
  std::vector<double> residuals;
  for (Index j = 0; j < B.cols(); ++j) {
    double residual = 0, norm = 0;
    for (Index i = 0; i < A.rows; ++i) {
      double r = static_cast<double>(B(i, j));
      norm += r * r;
      for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
        r -= static_cast<double>(A.values[e]) * static_cast<double>(X(A.columns[e], j));
      }
      residual += r * r;
    }
    residuals.push_back(residual == 0 ? 0 : std::sqrt(residual / norm));
  }
  return residuals;
}

/// All entries of a block, row by row.
template <Scalar T>
std::vector<T> all_entries(ConstBlockView<T, HostSpace> X) {
  std::vector<T> entries;
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) entries.push_back(X(i, j));
  }
  return entries;
}

}  // namespace heddle::test
