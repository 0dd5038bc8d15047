#pragma once

#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/narrow/narrow.hpp>

/// What the plans of all backends refuse.
namespace heddle::detail {

template <class V>
constexpr std::string_view narrow_name() {
  if constexpr (std::same_as<V, Half>) return "half";
  if constexpr (std::same_as<V, Bfloat16>) return "bf16";
  return "tf32";
}

template <class V, Scalar T, class Space>
void check_narrow_matrix(const CsrView<T, Space>& A) {
  if (A.remote == nullptr) return;
  throw InvalidArgument(fmt::format(
      "products in {}: A is distributed over processes, which products in single and double "
      "precision serve",
      narrow_name<V>()));
}

/// Refuses entry (row, column) of A, whose value was not finite after rounding.
template <class V>
[[noreturn]] void refuse_entry(Index row, Index column, double value) {
  throw InvalidArgument(fmt::format("entry ({}, {}) of A is {:g}, beyond the range of {}", row + 1,
                                    column + 1, value, narrow_name<V>()));
}

template <class V, class Space>
void check_narrow_shapes(Index rows, Index cols, const ConstNarrowView<V, Space>& B,
                         const NarrowTerms<V, Space>& terms, const ConstNarrowView<V, Space>& C) {
  const bool fits = B.rows() == cols && C.rows() == rows && C.cols() == B.cols() &&
                    (terms.gamma == 0 || rows == cols) &&
                    (terms.delta == 0 || (terms.X.rows() == rows && terms.X.cols() == C.cols()));
  if (fits) return;
  throw InvalidArgument(
      fmt::format("C = A B in {} does not fit: A is {}x{}, B is {}x{}, X is {}x{}, C is {}x{}",
                  narrow_name<V>(), rows, cols, B.rows(), B.cols(), terms.X.rows(), terms.X.cols(),
                  C.rows(), C.cols()));
}

}  // namespace heddle::detail
