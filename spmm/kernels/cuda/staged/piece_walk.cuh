#pragma once

#include <heddle/spmm/kernels/cuda/staged/queued_piece.hpp>

namespace heddle::detail::cuda {

/// Stripes of columns that a thread block multiplies, each of `columns` columns.
struct StripeRange {
  Index first_column;
  int count;
  int columns;
};

/// The pieces that a thread block multiplies, in order: row blocks t, t + grid, …, each in all
/// of its stripes, so that thread blocks that run together share rows of B. A thread walks through
/// them and loads each piece one call ahead. `Blocks` has the members `blocks`, `first_piece` and
/// `pieces` of `RowBlocksView`.
template <class Blocks>
class PieceWalk {
 public:
  __device__ PieceWalk(const Blocks& A, const StripeRange& stripes)
      : A_(A), stripes_(stripes), block_(blockIdx.x) {
    first_of_next_ = A.first_piece[block_];
    begin_block();
  }

  /// The next piece.
  __device__ QueuedPiece take() {
    if (block_ >= A_.blocks) return {{}, -1, 0, 0, false};
    const Index column = stripes_.first_column + Index{stripe_} * stripes_.columns;
    const QueuedPiece taken = {loaded_, piece_, column, part_, new_part_};
    if (taken.piece.last == 0) {
      begin_piece(piece_ + 1);
    } else if (++stripe_ < stripes_.count) {
      new_part_ = piece_ != first_;
      if (new_part_) begin_piece(first_);
    } else {
      block_ += gridDim.x;
      if (block_ < A_.blocks) begin_block();
    }
    return taken;
  }

 private:
  __device__ void begin_piece(Index piece) {
    piece_ = piece;
    loaded_ = A_.pieces[piece];
    new_part_ = true;
    ++part_;
  }
  __device__ void begin_block() {
    stripe_ = 0;
    first_ = first_of_next_;
    begin_piece(first_);
    const Index next = block_ + gridDim.x;
    if (next < A_.blocks) first_of_next_ = A_.first_piece[next];
  }

  const Blocks& A_;
  StripeRange stripes_;
  Index block_;
  int stripe_ = 0;
  int part_ = 0;
  bool new_part_ = true;
  Index piece_ = 0;
  Index first_ = 0;  ///< piece of the block
  Index first_of_next_ = 0;
  RowPiece loaded_{};
};

}  // namespace heddle::detail::cuda
