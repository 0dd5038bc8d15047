#pragma once

#include <heddle/spmm/kernels/cuda/staged/block_columns.hpp>

namespace heddle::detail::cuda {

/// A piece and the stripe of columns in which it is multiplied.
struct QueuedPiece {
  RowPiece piece;
  Index index;          ///< of the piece, −1 behind the last one
  Index stripe_column;  ///< the first of the stripe
  int part;             ///< counts the changes of the piece
  bool new_part;        ///< false for a further stripe of the same piece
};

}  // namespace heddle::detail::cuda
