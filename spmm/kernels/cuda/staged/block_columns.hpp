#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>

namespace heddle::detail::cuda {

/// Stands behind the rows of a block that has fewer than the others.
inline constexpr std::int32_t kNoRow = -1;

/// A piece of a row block: some of its distinct columns, and the entries in these. The pieces of a
/// block are consecutive, in the order of their columns.
struct RowPiece {
  Index first_column;    ///< place of the piece's columns in `BlockColumns::columns`
  Index first_quad;      ///< of `RowBlocks`; even, so that local columns are aligned to 16 bytes
  std::int32_t columns;  ///< the number of distinct columns
  std::int32_t quads;    ///< of `RowBlocks`; even
  std::int32_t block;
  std::int32_t last;  ///< 1 for the last piece of a block
};

/// The largest pieces of `block_columns`: the most rows of a block, a multiple of 8, the most
/// distinct columns of a piece, and the most memory, where each column takes `column_bytes` and
/// each entry `entry_bytes`. A column with an entry in each row must fit.
struct PieceLimits {
  int rows;
  int columns;
  int column_bytes;
  int entry_bytes;
  int bytes;
};

/// The distinct columns of blocks of rows, in pieces. Block b has pieces first_piece[b] …
/// first_piece[b + 1] − 1, at least one.
struct BlockColumns {
  Buffer<std::int32_t, DeviceSpace> rows;     ///< limits.rows per block, or kNoRow
  Buffer<std::int32_t, DeviceSpace> columns;  ///< ascending in a block
  Buffer<Index, DeviceSpace> first_piece;
  Buffer<RowPiece, DeviceSpace> pieces;  ///< without quads
};

/// Finds them on the device and waits for their numbers. The same matrix gives the same result.
/// Needs 12 bytes per entry of A meanwhile. Throws `OutOfMemory`.
template <class T>
BlockColumns block_columns(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                           const RowOrder& order, const PieceLimits& limits);

}  // namespace heddle::detail::cuda
