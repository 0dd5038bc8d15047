#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_checks.hpp>
#include <heddle/linalg/small/small_dense.hpp>

namespace heddle {

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

}  // namespace heddle
