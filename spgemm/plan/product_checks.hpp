#pragma once

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/views.hpp>
#include <string>

namespace heddle::detail {

/// Throws `InvalidArgument` unless A has as many columns as B has rows. `Matrix`: what has `rows`
/// and `cols`. Without fmt, which nvcc does not compile.
template <class Matrix>
void require_factors(const Matrix& A, const Matrix& B) {
  if (A.cols == B.rows) return;
  const auto shape = [](const Matrix& M) {
    return std::to_string(M.rows) + "x" + std::to_string(M.cols);
  };
  throw InvalidArgument("C = A B does not fit: A is " + shape(A) + ", B is " + shape(B) +
                        "; A must have as many columns as B has rows");
}

}  // namespace heddle::detail
