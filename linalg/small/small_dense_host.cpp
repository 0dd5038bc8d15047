#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_checks.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>

namespace heddle {
namespace {

using Matrix = Eigen::Map<Eigen::MatrixXd, Eigen::Unaligned, Eigen::OuterStride<>>;

Matrix square(const char* operation, SmallView<double, HostSpace> A) {
  if (A.rows != A.cols) {
    throw InvalidArgument(
        fmt::format("{}: needs a square matrix, got {}x{}", operation, A.rows, A.cols));
  }
  return {A.data, A.rows, A.cols, Eigen::OuterStride<>(A.ld)};
}

}  // namespace

// Both functions work column by column, in place. Eigen's blocked routines allocate packing buffers
// from an order of about a hundred on.

CholeskyStatus cholesky(HostContext&, SmallView<double, HostSpace> G) {
  Matrix R = square("cholesky", G);
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (Index j = 0; j < G.cols; ++j) {
    auto r = R.col(j).head(j);
    R.topLeftCorner(j, j).triangularView<Eigen::Upper>().transpose().solveInPlace(r);
    const double pivot = R(j, j) - r.squaredNorm();
    if (!(pivot > 0) || !std::isfinite(pivot)) return {};
    R(j, j) = std::sqrt(pivot);
    R.col(j).tail(G.rows - j - 1).setZero();
    smallest = std::min(smallest, R(j, j));
    largest = std::max(largest, R(j, j));
  }
  return {true, G.cols > 0 ? smallest / largest : 1};
}

void invert_upper(HostContext&, SmallView<double, HostSpace> A) {
  Matrix R = square("invert_upper", A);
  for (Index j = 0; j < A.cols; ++j) {
    // R(0:j, 0:j) already holds its inverse T. Column j of the inverse is −T r / R(j, j).
    auto r = R.col(j).head(j);
    R(j, j) = 1 / R(j, j);
    for (Index k = 0; k < j; ++k) {
      const double factor = -R(j, j) * r(k);
      r.head(k) += factor * R.col(k).head(k);
      r(k) = factor * R(k, k);
    }
  }
}

void cholesky_qr_coefficients(HostContext& context, ConstSmallView<double, HostSpace> T,
                              SmallView<double, HostSpace> N, SmallView<double, HostSpace> status) {
  require_cholesky_qr_shapes({T.rows, T.cols}, {N.rows, N.cols}, {status.rows, status.cols});
  const Index b = T.cols;
  const Index c = T.rows - b;
  const ConstSmallView<double, HostSpace> C = T.block(0, 0, c, b);
  const ConstSmallView<double, HostSpace> G = T.block(c, 0, b, b);
  const SmallView<double, HostSpace> M = N.block(c, 0, b, b);
  auto* scale = static_cast<double*>(context.scratch(static_cast<std::size_t>(b) * sizeof(double)));
  double least = std::numeric_limits<double>::infinity();
  double remaining = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < b; ++j) {  // M = H = G − CᵀC
    for (Index i = 0; i <= j; ++i) {
      double h = G(i, j);
      for (Index k = 0; k < c; ++k) h -= C(k, i) * C(k, j);
      M(i, j) = h;
    }
    scale[j] = 1 / std::sqrt(M(j, j));
    const double left = M(j, j) / G(j, j);
    if (!(M(j, j) >= least)) least = M(j, j);  // NaN is kept
    if (!(left >= remaining)) remaining = left;
  }
  const auto scale_rows = [&](SmallView<double, HostSpace> A) {
    for (Index j = 0; j < b; ++j) {
      for (Index i = 0; i <= j; ++i) A(i, j) *= scale[i];
    }
  };
  scale_rows(M);
  for (Index j = 0; j < b; ++j) {
    for (Index i = 0; i <= j; ++i) M(i, j) *= scale[j];
  }
  const CholeskyStatus factor = cholesky(context, M);
  status(CholeskyQrStatus::diagonal_ratio, 0) = factor.diagonal_ratio;
  status(CholeskyQrStatus::growth, 0) = std::numeric_limits<double>::infinity();
  status(CholeskyQrStatus::least_square, 0) = least;
  status(CholeskyQrStatus::remaining, 0) = remaining;
  if (!factor.positive_definite) {
    for (Index j = 0; j < b; ++j) std::fill_n(&N(0, j), N.rows, 0.0);
    return;
  }
  invert_upper(context, M);
  status(CholeskyQrStatus::growth, 0) =
      square("cholesky_qr_coefficients", M).squaredNorm() / static_cast<double>(b);
  scale_rows(M);
  if (c > 0) small_multiply(context, -1, C, false, M, false, 0, N.block(0, 0, c, b));
}

}  // namespace heddle
