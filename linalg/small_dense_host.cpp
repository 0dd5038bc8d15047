#include <fmt/format.h>

#include <Eigen/Dense>
#include <heddle/linalg/block_checks.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/small_dense.hpp>
#include <limits>

namespace heddle {
namespace {

using Matrix = Eigen::Map<Eigen::MatrixXd, Eigen::Unaligned, Eigen::OuterStride<>>;

Matrix square(const char* operation, SmallView<HostSpace> A) {
  if (A.rows != A.cols) {
    throw InvalidArgument(
        fmt::format("{}: needs a square matrix, got {}x{}", operation, A.rows, A.cols));
  }
  return {A.data, A.rows, A.cols, Eigen::OuterStride<>(A.ld)};
}

}  // namespace

// Both work column by column on vectors in place: Eigen's blocked routines allocate their packing
// buffers once the order passes about a hundred.

CholeskyStatus cholesky(HostContext&, SmallView<HostSpace> G) {
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

void invert_upper(HostContext&, SmallView<HostSpace> A) {
  Matrix R = square("invert_upper", A);
  for (Index j = 0; j < A.cols; ++j) {
    // R(0:j, 0:j) holds its inverse T already: column j of the inverse is −T r / R(j, j).
    auto r = R.col(j).head(j);
    R(j, j) = 1 / R(j, j);
    for (Index k = 0; k < j; ++k) {
      const double factor = -R(j, j) * r(k);
      r.head(k) += factor * R.col(k).head(k);
      r(k) = factor * R(k, k);
    }
  }
}

void cholesky_qr_coefficients(HostContext& context, ConstSmallView<HostSpace> G,
                              SmallView<HostSpace> M, SmallView<HostSpace> status) {
  require_cholesky_qr_shapes({G.rows, G.cols}, {M.rows, M.cols}, {status.rows, status.cols});
  const auto scale = [&](Index j) { return 1 / std::sqrt(G(j, j)); };
  double least = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < G.cols; ++j) {
    for (Index i = 0; i <= j; ++i) M(i, j) = G(i, j) * (scale(i) * scale(j));
    if (!(G(j, j) >= least)) least = G(j, j);  // keeps a NaN
  }
  const CholeskyStatus factor = cholesky(context, M);
  double growth = std::numeric_limits<double>::infinity();
  if (factor.positive_definite) {
    invert_upper(context, M);
    growth = square("cholesky_qr_coefficients", M).squaredNorm() / static_cast<double>(G.cols);
    for (Index j = 0; j < G.cols; ++j) {
      for (Index i = 0; i <= j; ++i) M(i, j) *= scale(i);
    }
  } else {
    square("cholesky_qr_coefficients", M).setZero();
  }
  status(CholeskyQrStatus::diagonal_ratio, 0) = factor.diagonal_ratio;
  status(CholeskyQrStatus::growth, 0) = growth;
  status(CholeskyQrStatus::least_square, 0) = least;
}

}  // namespace heddle
