#pragma once

#include <heddle/spmm/narrow/narrow.hpp>
#include <string_view>

/// The inputs that the plans of all backends refuse. `type` is the name of the number type.
namespace heddle::detail {

/// Refuses entry (row, column) of A, counted from 0, which is not finite in this type.
[[noreturn]] void refuse_entry(std::string_view type, Index row, Index column, double value);

/// The shape of a block.
struct NarrowShape {
  Index rows = 0;
  Index columns = 0;
};

[[noreturn]] void refuse_shapes(std::string_view type, const NarrowShape& A, const NarrowShape& B,
                                const NarrowShape& X, const NarrowShape& C);

template <class V, class Space>
void check_narrow_shapes(Index rows, Index cols, const ConstNarrowView<V, Space>& B,
                         const NarrowTerms<V, Space>& terms, const ConstNarrowView<V, Space>& C) {
  const bool fits = B.rows() == cols && C.rows() == rows && C.cols() == B.cols() &&
                    (terms.gamma == 0 || rows == cols) &&
                    (terms.delta == 0 || (terms.X.rows() == rows && terms.X.cols() == C.cols()));
  if (fits) return;
  refuse_shapes(narrow_name<V>(), {rows, cols}, {B.rows(), B.cols()},
                {terms.X.rows(), terms.X.cols()}, {C.rows(), C.cols()});
}

}  // namespace heddle::detail
