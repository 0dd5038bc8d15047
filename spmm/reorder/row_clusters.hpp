#pragma once

#include <heddle/spmm/blocked/block_counts.hpp>

namespace heddle {

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
