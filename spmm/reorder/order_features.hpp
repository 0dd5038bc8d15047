#pragma once

#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/model/host_time.hpp>
#include <vector>

namespace heddle::detail {

/// The features of A with its rows, and of a square A its columns, in `order` (empty: A's own), by
/// which a product's time is predicted: exact numbers of the row lengths, R(T), `column_run` and
/// `rows_across` from samples of some 100000 rows. It knows no grid and no node blocks.
/// Milliseconds, as it does not form the ordered matrix: R(T) does not depend on the order of
/// columns.
HostFeatures sampled_features(const RowPattern& A, const std::vector<std::int32_t>& order);

/// `rows_across` of a square A in its own order, from a thousand rows: microseconds.
double own_rows_across(const RowPattern& A);

/// About the `rows_across` that a good order leaves a square A: those of some thousand rows in the
/// order of a breadth-first search, which fall like the cube root of their number in a mesh of
/// three dimensions.
double possible_rows_across(const RowPattern& A);

/// The features that no order of a square A with a symmetric pattern can exceed: the columns of a
/// row are neighbours, and R(T) is the smaller of T, as T rows have at most T entries in a column,
/// and of the entries per row that is not empty, as each column that is not empty is read by one
/// tile at least. No rows are across. Takes the time of a pass over the lengths of the rows.
HostFeatures ideal_features(const RowPattern& A);

/// The features that a good order could give a square A: R(T) of rows in breadth-first order
/// around a few of them, and the rows across of these rows alone. An estimate that needs no order
/// of all rows.
HostFeatures possible_features(const RowPattern& A);

}  // namespace heddle::detail
