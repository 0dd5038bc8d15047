#pragma once

#include <heddle/spmm/blocked/block_counts.hpp>
#include <string_view>

namespace heddle {

/// What may be put in another order to lower the number of blocks.
enum class Reordering {
  none,
  rows,              ///< rows alone: C is written in another order, B is read as it is
  rows_and_columns,  ///< also columns: rows of B are gathered
};

/// The name of an order, as reports say it: "natural", "rows", "rows and columns".
std::string_view reordering_name(Reordering order) noexcept;

/// An order, what it does to the blocks, and how long it took to find.
struct BlockOrdering {
  Reordering kind = Reordering::none;
  BlockOrder order;
  BlockCounts counts;
  double seconds = 0;
};

/// The order of this kind by `cluster_rows`, whether or not it helps. Rows and columns: rows by
/// their columns one by one, then columns by the panels of rows that they occur in. Throws as
/// `cluster_rows` does.
BlockOrdering order_for_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                               Reordering kind);

/// The time of a block in a product, to compare orders of a matrix by (`nominal_block_seconds` or a
/// fit, `LinearTime`).
struct BlockTimes {
  double per_block = 1;           ///< where the rows of B that a block meets are neighbours
  double per_gathered_block = 1;  ///< where they are not, because columns have another order
};

/// The best of the three kinds by these times: the natural order unless another one is faster. It
/// has never more blocks than the natural order. `seconds` is the time of all that was tried.
BlockOrdering best_order_for_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                                    const BlockTimes& times);

}  // namespace heddle
