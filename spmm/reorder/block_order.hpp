#pragma once

#include <heddle/spmm/blocked/block_counts.hpp>
#include <string_view>

namespace heddle {

/// The rows or columns that may be permuted to lower the number of blocks.
enum class Reordering {
  none,
  rows,              ///< rows alone: C is written in another order, B is read as it is
  rows_and_columns,  ///< also columns: rows of B are gathered
};

/// The name of an order, as reports say it: "natural", "rows", "rows and columns".
std::string_view reordering_name(Reordering order) noexcept;

/// An order, what it does to the blocks, and how long it took to find.
struct BlockOrdering {
  Reordering kind = Reordering::none;  ///< what is in another order
  BlockOrder order;                    ///< the order itself
  BlockCounts counts;                  ///< the blocks in this order
  double seconds = 0;
};

/// The order of this kind by `cluster_rows`, whether or not it helps. Rows and columns: rows by
/// their columns one by one, then columns by the panels of rows that they occur in. Throws as
/// `cluster_rows` does.
BlockOrdering order_for_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                               Reordering kind);

/// The time of a block in a product, to compare orders of a matrix by (`nominal_block_seconds`).
struct BlockTimes {
  double per_block = 1;           ///< where the rows of B that a block meets are neighbours
  double per_gathered_block = 1;  ///< where they are not, because columns have another order
};

/// The best of the three kinds by these times: the natural order unless another one is faster. It
/// has never more blocks than the natural order. `seconds` is the time of all that was tried.
BlockOrdering best_order_for_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                                    const BlockTimes& times);

/// An order of A's rows in which each `shape.height` rows share many of their columns, taken by
/// `shape.width`: it lowers the number of blocks that A touches. `columns` is the order in which
/// the columns are cut, an empty list the natural one. Rows without entries come last.
///
/// Panels are filled one after the other. A panel begins with the row that is most like the panel
/// before it. Then always the row with the smallest Jaccard distance 1 − |v ∩ p|/|v ∪ p| to p
/// joins, the columns that the panel has already. Candidates are rows that have a min-hash in
/// common with a row of the panel. The hashes estimate their distances, and those of the nearest
/// few are computed. So the time is O(nnz·hashes + rows·log rows).
///
/// Hashes run in parallel, the choice of rows on one thread. The result is the same for every
/// number of threads. Needs about 150 bytes per row. Throws `InvalidArgument` for a shape that is
/// not positive and as `check_order`, `OutOfMemory`.
///
/// Source: Sylos Labini, Bernaschi, Nutt, Silvestri, Vella, Blocking sparse matrices to leverage
/// dense-specific multiplication, IA3 2022, with panels of a fixed height in place of a threshold
/// for the distance. Min-hashes: Broder, On the resemblance and containment of documents, 1997.
std::vector<std::int32_t> cluster_rows(HostContext& context, const RowPattern& A, BlockShape shape,
                                       const std::vector<std::int32_t>& columns = {});

}  // namespace heddle
