#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/spmm/low_precision/narrow_block.hpp>
#include <utility>

namespace heddle::detail {

/// Brings blocks in single precision into the range of V (`Half`, `Bfloat16`, `Tf32`) and back:
///
///     load: x_j = s_j D x_j,    store: y_j = s_j⁻¹ D y_j
///
/// D is a positive diagonal, s_j the power of two with 1 ≤ ‖x_j‖ < 2 after loading. A linear map
/// between both is thus M = D (…) D.
template <class V, class Ctx>
class NarrowColumns {
 public:
  using Space = typename Ctx::Space;

  /// `diagonal`: of D.
  explicit NarrowColumns(Buffer<float, Space> diagonal) : diagonal_(std::move(diagonal)) {}

  /// D as an n×1 block.
  ConstBlockView<float, Space> diagonal() const noexcept {
    return {diagonal_.data(), static_cast<Index>(diagonal_.size()), 1, 1};
  }

  /// Allocates for blocks of b columns.
  void reserve(Ctx& context, Index b) {
    if (width_ >= b) return;
    width_ = 0;  // so that a call after `OutOfMemory` begins anew
    scaled_ = {};
    scaled_ = MultiVector<float, Space>(context, diagonal().rows(), b);
    scales_ = SmallMatrix<double, Space>(context, b, 2);
    width_ = b;
  }

  void load(Ctx& context, ConstBlockView<float, Space> X, const NarrowView<V, Space>& x) {
    const Index b = X.cols();
    scale_rows<float>(context, diagonal(), X, scaled_.columns(0, b));
    norm_scales<float>(context, scaled_.columns(0, b), scales_.view(b, 2));
    narrow<V>(context, scaled_.columns(0, b), scales_.view(b, 2).block(0, 0, b, 1), x);
  }

  /// For the block that was loaded last.
  void store(Ctx& context, const NarrowView<V, Space>& y, BlockView<float, Space> Y) {
    const Index b = Y.cols();
    widen<V>(context, y, scales_.view(b, 2).block(0, 1, b, 1), 0, scaled_.columns(0, b));
    scale_rows<float>(context, diagonal(), scaled_.columns(0, b), Y);
  }

  /// Scratch memory between `load` and `store`: n×b, b×1.
  BlockView<float, Space> scratch(Index b) { return scaled_.columns(0, b); }
  SmallView<double, Space> small_scratch(Index b) { return scales_.view(b, 2).block(0, 0, b, 1); }

 private:
  Index width_ = 0;
  Buffer<float, Space> diagonal_;
  MultiVector<float, Space> scaled_;   // n×b
  SmallMatrix<double, Space> scales_;  // b×2: s and 1/s
};

}  // namespace heddle::detail
