#pragma once

#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Throws `InvalidArgument` unless A has as many columns as B has rows.
template <class T, class Space>
void require_factors(const CsrView<T, Space>& A, const CsrView<T, Space>& B) {
  if (A.cols == B.rows) return;
  throw InvalidArgument(fmt::format(
      "C = A B does not fit: A is {}x{}, B is {}x{}; A must have as many columns as B has rows",
      A.rows, A.cols, B.rows, B.cols));
}

}  // namespace heddle::detail
