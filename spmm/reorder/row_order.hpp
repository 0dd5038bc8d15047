#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/spmm/blocked/row_pattern.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// An order of a matrix's rows. `automatic`: another one than the matrix's own where the model says
/// that it pays. `none`: the matrix's own.
enum class RowOrder { automatic, none, rcm, metis, radix, jaccard };

/// All orders, as the key `spmm.reorder` names them: auto, none, rcm, metis, radix, jaccard.
inline constexpr RowOrder kRowOrders[] = {RowOrder::automatic, RowOrder::none,  RowOrder::rcm,
                                          RowOrder::metis,     RowOrder::radix, RowOrder::jaccard};
std::string_view row_order_name(RowOrder order) noexcept;

/// Why this order of A cannot be found: METIS is missing in this build or counts no further, rcm
/// and metis need a square A. Empty if it can.
std::string no_row_order_reason(RowOrder order, const RowPattern& A);

/// An order of A's rows by A's pattern: row k of the ordered matrix is row order[k] of A. For a
/// square A it is meant for rows and columns alike, PAPᵀ. Empty for `none` and `automatic`.
///
///     rcm      reverse Cuthill–McKee: breadth first, so that entries come near the diagonal
///     metis    parts of some thousand rows that few entries join, by METIS; within them, and from
///              one to the next, as rcm
///     radix    rows as binary numbers whose first digit is the first column, in descending order
///     jaccard  row after row the most like those before it, see `cluster_rows`
///
/// Rows of one point of a discretisation stay side by side in their own order: each `unknowns`
/// neighbouring rows if `unknowns` > 1, else rows of a square A with equal columns. rcm goes
/// from row i to row j where a_ij is stored, metis where a_ij or a_ji is. The order depends on A
/// alone, not on the number of threads. Throws `InvalidArgument` with `no_row_order_reason`,
/// `OutOfMemory`.
///
/// Source: Hidayetoglu et al., tiled SpMM, section 4.2 (radix); Karypis & Kumar, SIAM J. Sci.
/// Comput. 20 (1998) 359 (METIS).
std::vector<std::int32_t> order_rows(HostContext& context, const RowPattern& A, RowOrder order,
                                     Index unknowns = 0);

}  // namespace heddle
