#pragma once

#include <Eigen/Dense>
#include <heddle/drivers/solve.hpp>
#include <string>
#include <utility>
#include <vector>

/// Shared by the tests of problems with complex matrices.
namespace heddle::test {

using Complex = std::complex<double>;

inline ComplexMatrix generated_complex(std::string name, std::vector<Index> size,
                                       double density = 0) {
  return ComplexMatrix::generate(
      {.name = std::move(name), .size = std::move(size), .density = density});
}

inline Eigen::MatrixXcd to_dense_block(const ComplexBlock& X) {
  Eigen::MatrixXcd all(X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) all(i, j) = X.view()(i, j);
  }
  return all;
}

/// The block that fill(context, X) makes of X.
template <class Fill>
ComplexBlock filled_block(Index rows, Index columns, const Fill& fill) {
  const auto context = std::make_shared<HostContext>(1);
  MultiVector<Complex, HostSpace> X(*context, rows, columns);
  fill(*context, X.view());
  return {std::move(X), context};
}

/// The block whose entries are entry(i, j).
template <class Entry>
ComplexBlock block_of(Index rows, Index columns, const Entry& entry) {
  return filled_block(rows, columns, [&](HostContext&, BlockView<Complex, HostSpace> X) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) X(i, j) = entry(i, j);
    }
  });
}

}  // namespace heddle::test
