#pragma once

#include <heddle/linalg/data/views.hpp>
#include <vector>

/// How many blocks a sparse matrix has where it is stored in dense blocks.
namespace heddle {

/// A sparse matrix in compressed sparse rows without its values, in host memory. See `CsrView` for
/// the layout. Does not own the memory.
struct RowPattern {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  const std::int64_t* row_offsets = nullptr;  ///< rows + 1 entries
  const std::int32_t* columns = nullptr;      ///< nnz entries, 0-based

  /// The number of entries of a row.
  Index length(Index row) const noexcept { return row_offsets[row + 1] - row_offsets[row]; }
};

/// The pattern of A, whose arrays it refers to.
template <class T>
RowPattern pattern_of(const CsrView<T, HostSpace>& A) noexcept {
  return {A.rows, A.cols, A.nnz, A.row_offsets, A.columns};
}

/// The size of dense blocks. Blocks begin at multiples of it.
struct BlockShape {
  Index height = 16;  ///< rows of a block
  Index width = 16;   ///< columns of a block

  /// The number of entries of a block.
  constexpr Index area() const noexcept { return height * width; }
  constexpr bool operator==(const BlockShape&) const = default;
};

/// An order in which the rows and columns of a matrix are cut into blocks. `rows[p]` is the row of
/// A at position p. An empty list is the natural order.
struct BlockOrder {
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> columns;
};

/// Throws `InvalidArgument` unless each list of the order is empty or a permutation of the matrix's
/// rows or columns.
void check_order(const RowPattern& A, const BlockOrder& order);

/// `inverse[order[p]] = p`. Empty for an empty order.
std::vector<std::int32_t> inverse_order(const std::vector<std::int32_t>& order);

/// The blocks of a matrix that hold entries.
struct BlockCounts {
  BlockShape shape;
  Index nnz = 0;
  std::vector<Index> per_block_row;  ///< in the order of the block rows

  /// The number of blocks that hold entries.
  Index blocks() const noexcept;
  double mean() const noexcept;       ///< blocks per block row, 0 without rows
  double deviation() const noexcept;  ///< their standard deviation
  /// The number of blocks that a share q of the block rows does not exceed: the smallest for q = 0,
  /// the median for .5, the largest for 1. 0 without rows.
  Index quantile(double q) const;
  /// nnz/(area·blocks), 0 without blocks.
  double fill() const noexcept;
  /// Block CSR with values of `value_bytes`: values, one index per block, one offset per block row.
  double block_csr_bytes(std::size_t value_bytes) const noexcept;
};

/// Counts the blocks of A in this order. For width 1 they are the distinct columns of the panels of
/// `height` rows. Runs in parallel with the same result for every number of threads. Needs
/// 8·cols/width bytes of memory per thread. Throws `InvalidArgument` for a shape that is not
/// positive and as `check_order`, `OutOfMemory`.
BlockCounts count_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                         const BlockOrder& order = {});

/// Groups of `width` columns in panels that keep only the columns with entries. `columns` are the
/// counts of the same panels for width 1.
Index column_groups(const BlockCounts& columns, Index width) noexcept;

/// Bytes of such panels with values of `value_bytes`, in groups of
/// `width` columns. `columns` are the counts of the same panels for width 1.
double column_panel_bytes(const BlockCounts& columns, Index width,
                          std::size_t value_bytes) noexcept;

}  // namespace heddle
