#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_checks.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>

namespace heddle {
namespace {

template <class W>
using Matrix = Eigen::Map<Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>, Eigen::Unaligned,
                          Eigen::OuterStride<>>;

template <class W>
using Small = SmallView<W, HostSpace>;
template <class W>
using ConstSmall = ConstSmallView<W, HostSpace>;

template <WideScalar W>
Matrix<W> square(const char* operation, Small<W> A) {
  if (A.rows != A.cols) {
    throw InvalidArgument(
        fmt::format("{}: needs a square matrix, got {}x{}", operation, A.rows, A.cols));
  }
  return {A.data, A.rows, A.cols, Eigen::OuterStride<>(A.ld)};
}

// Both functions work column by column, in place. Eigen's blocked routines allocate packing buffers
// from an order of about a hundred on.

template <WideScalar W>
CholeskyStatus factor(Small<W> G) {
  Matrix<W> R = square("cholesky", G);
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (Index j = 0; j < G.cols; ++j) {
    auto r = R.col(j).head(j);
    R.topLeftCorner(j, j).template triangularView<Eigen::Upper>().adjoint().solveInPlace(r);
    const double pivot = real_part(R(j, j)) - r.squaredNorm();
    if (!(pivot > 0) || !std::isfinite(pivot)) return {};
    const double root = std::sqrt(pivot);
    R(j, j) = root;
    R.col(j).tail(G.rows - j - 1).setZero();
    smallest = std::min(smallest, root);
    largest = std::max(largest, root);
  }
  return {true, G.cols > 0 ? smallest / largest : 1};
}

template <WideScalar W>
void invert(Small<W> A) {
  Matrix<W> R = square("invert_upper", A);
  for (Index j = 0; j < A.cols; ++j) {
    // R(0:j, 0:j) already holds its inverse T. Column j of the inverse is −T r / R(j, j).
    auto r = R.col(j).head(j);
    R(j, j) = 1.0 / R(j, j);
    for (Index k = 0; k < j; ++k) {
      const W factor = -R(j, j) * r(k);
      r.head(k) += factor * R.col(k).head(k);
      r(k) = factor * R(k, k);
    }
  }
}

template <WideScalar W>
void qr_coefficients(HostContext& context, ConstSmall<W> T, Small<W> N, Small<double> status) {
  require_cholesky_qr_shapes({T.rows, T.cols}, {N.rows, N.cols}, {status.rows, status.cols});
  const Index b = T.cols;
  const Index c = T.rows - b;
  const ConstSmall<W> C = T.block(0, 0, c, b);
  const ConstSmall<W> G = T.block(c, 0, b, b);
  const Small<W> M = N.block(c, 0, b, b);
  auto* scale = static_cast<double*>(context.scratch(static_cast<std::size_t>(b) * sizeof(double)));
  double least = std::numeric_limits<double>::infinity();
  double remaining = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < b; ++j) {  // M = H = G − CᵀC
    for (Index i = 0; i <= j; ++i) {
      W h = G(i, j);
      for (Index k = 0; k < c; ++k) h -= conjugate(C(k, i)) * C(k, j);
      M(i, j) = h;
    }
    const double square = real_part(M(j, j));
    scale[j] = 1 / std::sqrt(square);
    const double left = square / real_part(G(j, j));
    if (!(square >= least)) least = square;  // NaN is kept
    if (!(left >= remaining)) remaining = left;
  }
  const auto scale_rows = [&](Small<W> A) {
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
    for (Index j = 0; j < b; ++j) std::fill_n(&N(0, j), N.rows, W{0});
    return;
  }
  invert_upper(context, M);
  status(CholeskyQrStatus::growth, 0) =
      square("cholesky_qr_coefficients", M).squaredNorm() / static_cast<double>(b);
  scale_rows(M);
  if (c > 0) small_multiply(context, -1, C, false, M, false, 0, N.block(0, 0, c, b));
}

}  // namespace

CholeskyStatus cholesky(HostContext&, Small<double> G) { return factor(G); }
CholeskyStatus cholesky(HostContext&, Small<std::complex<double>> G) { return factor(G); }

void invert_upper(HostContext&, Small<double> A) { invert(A); }
void invert_upper(HostContext&, Small<std::complex<double>> A) { invert(A); }

void cholesky_qr_coefficients(HostContext& context, ConstSmall<double> T, Small<double> N,
                              Small<double> status) {
  qr_coefficients(context, T, N, status);
}
void cholesky_qr_coefficients(HostContext& context, ConstSmall<std::complex<double>> T,
                              Small<std::complex<double>> N, Small<double> status) {
  qr_coefficients(context, T, N, status);
}

void small_multiply(HostContext&, double alpha, ConstSmall<std::complex<double>> A,
                    bool transpose_a, ConstSmall<std::complex<double>> B, bool transpose_b,
                    double beta, Small<std::complex<double>> C) {
  require_small_multiply_shapes(transpose_a ? Shape{A.cols, A.rows} : Shape{A.rows, A.cols},
                                transpose_b ? Shape{B.cols, B.rows} : Shape{B.rows, B.cols},
                                {C.rows, C.cols});
  using Const = Eigen::Map<const Eigen::MatrixXcd, Eigen::Unaligned, Eigen::OuterStride<>>;
  const Const a(A.data, A.rows, A.cols, Eigen::OuterStride<>(A.ld));
  const Const b(B.data, B.rows, B.cols, Eigen::OuterStride<>(B.ld));
  Matrix<std::complex<double>> c(C.data, C.rows, C.cols, Eigen::OuterStride<>(C.ld));
  if (beta == 0) {
    c.setZero();
  } else if (beta != 1) {
    c *= beta;
  }
  if (transpose_a && transpose_b) {
    c.noalias() += alpha * a.adjoint() * b.adjoint();
  } else if (transpose_a) {
    c.noalias() += alpha * a.adjoint() * b;
  } else if (transpose_b) {
    c.noalias() += alpha * a * b.adjoint();
  } else {
    c.noalias() += alpha * a * b;
  }
}

}  // namespace heddle
