#pragma once

#include <heddle/spmm/low_precision/narrow_block.hpp>
#include <heddle/spmm/low_precision/precision.hpp>

/// The inputs that the plans of all backends refuse.
namespace heddle::detail {

/// The shape of a matrix or a block.
struct OperandShape {
  Index rows = 0;
  Index cols = 0;

  template <class Block>
  static OperandShape of(const Block& block) {
    return {block.rows(), block.cols()};
  }
  bool operator==(const OperandShape&) const = default;
};

/// Throws `InvalidArgument` unless C = A B fits and `X` has the shape of C. γ B needs a square A.
void check_shapes(const OperandShape& A, const OperandShape& B, const OperandShape& C,
                  const OperandShape& X, bool square);

template <class BlockB, class BlockC>
void check_product(const OperandShape& A, const BlockB& B, const BlockC& C) {
  check_shapes(A, OperandShape::of(B), OperandShape::of(C), OperandShape::of(C), false);
}

/// Throws for a plan whose rows are scaled: terms in V would not be.
void check_unscaled(RangeScaling scaling);

template <class V, class Space>
void check_step(const OperandShape& A, RangeScaling scaling, const ConstNarrowView<V, Space>& B,
                const NarrowTerms<V, Space>& terms, const ConstNarrowView<V, Space>& C) {
  check_unscaled(scaling);
  check_shapes(A, OperandShape::of(B), OperandShape::of(C),
               terms.delta == 0 ? OperandShape::of(C) : OperandShape::of(terms.X),
               terms.gamma != 0);
}

}  // namespace heddle::detail
