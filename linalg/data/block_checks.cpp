#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/block_checks.hpp>

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

}  // namespace heddle
