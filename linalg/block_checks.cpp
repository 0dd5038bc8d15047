#include <fmt/format.h>

#include <heddle/linalg/block_checks.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/small_dense.hpp>

namespace heddle {

void require_same_shape(const char* operation, Shape X, Shape Y) {
  if (X.rows == Y.rows && X.cols == Y.cols) return;
  throw InvalidArgument(
      fmt::format("{}: blocks of {}x{} and {}x{}", operation, X.rows, X.cols, Y.rows, Y.cols));
}

void require_one_per_column(const char* operation, Shape values, Index columns) {
  if (values.rows == columns && values.cols == 1) return;
  throw InvalidArgument(fmt::format("{}: {}x{} values for a block of {} columns", operation,
                                    values.rows, values.cols, columns));
}

void require_gram_shapes(Shape X, Shape Y, Shape G) {
  if (X.rows == Y.rows && G.rows == X.cols && G.cols == Y.cols) return;
  throw InvalidArgument(fmt::format("gram: G = XᵀY with X {}x{}, Y {}x{}, G {}x{}", X.rows, X.cols,
                                    Y.rows, Y.cols, G.rows, G.cols));
}

void require_multiply_shapes(Shape X, Shape C, Shape Y) {
  if (X.rows == Y.rows && X.cols == C.rows && C.cols == Y.cols) return;
  throw InvalidArgument(fmt::format("multiply: Y = X C with X {}x{}, C {}x{}, Y {}x{}", X.rows,
                                    X.cols, C.rows, C.cols, Y.rows, Y.cols));
}

void require_square(const char* operation, Shape A) {
  if (A.rows == A.cols) return;
  throw InvalidArgument(
      fmt::format("{}: needs a square matrix, got {}x{}", operation, A.rows, A.cols));
}

void require_small_multiply_shapes(Shape A, Shape B, Shape C) {
  if (A.rows == C.rows && A.cols == B.rows && B.cols == C.cols) return;
  throw InvalidArgument(fmt::format("small_multiply: C = A B with A {}x{}, B {}x{}, C {}x{}",
                                    A.rows, A.cols, B.rows, B.cols, C.rows, C.cols));
}

void require_cholesky_qr_shapes(Shape T, Shape N, Shape status) {
  if (T.rows == N.rows && T.cols == N.cols && T.cols <= T.rows &&
      status.rows == CholeskyQrStatus::rows && status.cols == 1) {
    return;
  }
  throw InvalidArgument(fmt::format("cholesky_qr_coefficients: T {}x{}, N {}x{}, status {}x{}",
                                    T.rows, T.cols, N.rows, N.cols, status.rows, status.cols));
}

void require_eigensolver_shapes(Shape H, Shape theta, Shape Z) {
  const Index m = H.rows;
  if (H.cols == m && theta.rows == m && theta.cols == 1 && Z.rows == m && Z.cols == m) return;
  throw InvalidArgument(fmt::format("SymmetricEigensolver: H {}x{}, theta {}x{}, Z {}x{}", m,
                                    H.cols, theta.rows, theta.cols, Z.rows, Z.cols));
}

}  // namespace heddle
