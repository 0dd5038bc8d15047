#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>

namespace heddle::detail {
namespace {

/// The binary exponents of the largest entries of the columns of X, 0 for a column of zeros.
std::vector<int> exponents(ConstBlockView<double, HostSpace> X) {
  std::vector<int> made(static_cast<std::size_t>(X.cols()), 0);
  for (Index j = 0; j < X.cols(); ++j) {
    double largest = 0;
    for (Index i = 0; i < X.rows(); ++i) largest = std::max(largest, std::abs(X(i, j)));
    if (largest > 0) made[static_cast<std::size_t>(j)] = std::ilogb(largest);
  }
  return made;
}

}  // namespace

std::optional<NegativeEntry> first_negative(HostContext&, const Buffer<double, HostSpace>& d) {
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i] < 0) return NegativeEntry{static_cast<Index>(i), d[i]};
  }
  return {};
}

double symmetric_norm(HostContext& context, CsrView<double, HostSpace> A) {
  return norm_1<double>(context, A);
}

Numbers<std::int64_t, HostSpace> equal_nodes(HostContext&, Index rows, Index unknowns) {
  Numbers<std::int64_t, HostSpace> nodes;
  for (Index row = 0; row <= rows; row += unknowns) nodes.push_back(row);
  return nodes;
}

MultiVector<double, HostSpace> near_null_vectors(HostContext& context, Index m,
                                                 ConstBlockView<double, HostSpace> given,
                                                 const Buffer<double, HostSpace>& s) {
  const auto n = static_cast<Index>(s.size());
  const std::vector<int> scales = exponents(given);
  MultiVector<double, HostSpace> X(context, n, m);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < m; ++j) {
      const double value = given.empty()
                               ? static_cast<double>(i % m == j)
                               : std::scalbn(given(i, j), -scales[static_cast<std::size_t>(j)]);
      X.view()(i, j) = value / s.data()[i];
    }
  }
  return X;
}

void to_unit_scaling(HostContext&, Buffer<double, HostSpace>& d) {
  double largest = 0;
  for (std::size_t i = 0; i < d.size(); ++i) largest = std::max(largest, d[i]);
  for (std::size_t i = 0; i < d.size(); ++i) {
    d[i] = d[i] > kZeroDiagonal * largest ? 1 / std::sqrt(d[i]) : 1;
  }
}

double multiplications(HostContext&, CsrView<double, HostSpace> A, CsrView<double, HostSpace> P) {
  double sum = 0;
  for (Index e = 0; e < A.nnz; ++e) {
    const std::int32_t k = A.columns[e];
    sum += static_cast<double>(P.row_offsets[k + 1] - P.row_offsets[k]);
  }
  return sum;
}

void scale_coarse_side(HostContext&, const Buffer<double, HostSpace>& s,
                       CsrMatrix<double, HostSpace>& P, CsrMatrix<double, HostSpace>& Pt,
                       BlockView<double, HostSpace> X) {
  for (Index e = 0; e < P.nnz(); ++e) P.values()[e] *= s.data()[P.columns()[e]];
  for (Index i = 0; i < Pt.rows(); ++i) {
    for (std::int64_t e = Pt.row_offsets()[i]; e < Pt.row_offsets()[i + 1]; ++e) {
      Pt.values()[e] *= s.data()[i];
    }
    for (Index j = 0; j < X.cols(); ++j) X(i, j) /= s.data()[i];
  }
}

void fetch_dense(HostContext&, HostContext&, CsrView<double, HostSpace> A,
                 SmallView<double, HostSpace> H) {
  std::fill_n(H.data, H.rows * H.cols, 0.0);
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      H(i, A.columns[e]) = A.values[e];
    }
  }
}

}  // namespace heddle::detail
