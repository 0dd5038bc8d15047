#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/linalg/context/context.hpp>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

namespace heddle::test {

/// A diagonal matrix, which owns its entries.
inline Matrix diagonal(const std::vector<double>& values) {
  const auto n = static_cast<Index>(values.size());
  const auto host = std::make_shared<HostContext>(1);
  HostCsrMatrix<double> made(*host, n, n, n);
  for (Index i = 0; i < n; ++i) {
    made.row_offsets()[i] = i;
    made.columns()[i] = static_cast<std::int32_t>(i);
  }
  made.row_offsets()[n] = n;
  std::copy(values.begin(), values.end(), made.values());
  return Matrix(std::move(made), host);
}

/// The arrays of T = tridiag(−1, 2, −1) of order n, as a user may hold them. Its eigenvalues are
/// 4 sin²(π j / (2(n + 1))), j = 1 … n.
template <class Offset, class Value = double>
struct Chain {
  Index n;
  std::vector<Offset> row_offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<Value> values;

  explicit Chain(Index order) : n(order) {
    for (Index i = 0; i < n; ++i) {
      if (i > 0) add(i - 1, -1);
      add(i, 2);
      if (i + 1 < n) add(i + 1, -1);
      row_offsets.push_back(static_cast<Offset>(columns.size()));
    }
  }

  Matrix matrix() const { return {n, n, row_offsets, columns, values}; }

 private:
  void add(Index column, Value value) {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
};

/// The j-th eigenvalue of the chain of order n, j from 1.
inline double chain_eigenvalue(Index n, Index j) {
  const double angle =
      std::numbers::pi * static_cast<double>(j) / (2.0 * static_cast<double>(n + 1));
  return 4 * std::sin(angle) * std::sin(angle);
}

/// Y = T X for the chain, without a matrix.
inline void multiply_by_chain(ConstBlockView<double, HostSpace> X, BlockView<double, HostSpace> Y) {
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      const double before = i > 0 ? X(i - 1, j) : 0;
      const double behind = i + 1 < X.rows() ? X(i + 1, j) : 0;
      Y(i, j) = 2 * X(i, j) - before - behind;
    }
  }
}

}  // namespace heddle::test
