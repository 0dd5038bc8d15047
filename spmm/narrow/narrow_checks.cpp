#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/narrow/narrow_checks.hpp>

namespace heddle::detail {

void refuse_entry(std::string_view type, Index row, Index column, double value) {
  throw InvalidArgument(fmt::format("entry ({}, {}) of A is {:g}, beyond the range of {}", row + 1,
                                    column + 1, value, type));
}

void refuse_shapes(std::string_view type, const NarrowShape& A, const NarrowShape& B,
                   const NarrowShape& X, const NarrowShape& C) {
  throw InvalidArgument(fmt::format(
      "C = A B in {} does not fit: A is {}x{}, B is {}x{}, X is {}x{}, C is {}x{}", type, A.rows,
      A.columns, B.rows, B.columns, X.rows, X.columns, C.rows, C.columns));
}

}  // namespace heddle::detail
