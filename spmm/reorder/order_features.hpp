#pragma once

#include <heddle/spmm/blocked/row_pattern.hpp>
#include <heddle/spmm/features/features.hpp>
#include <vector>

namespace heddle::detail {

/// The features of A with its rows, and of a square A its columns, in `order` (empty: A's own), by
/// which a product's time is predicted: exact numbers of the row lengths, R(T) and `column_run`
/// from samples of some 100000 rows. It knows no grid and no node blocks. Milliseconds, as it
/// does not form the ordered matrix: R(T) does not depend on the order of columns.
MatrixFeatures sampled_features(const RowPattern& A, const std::vector<std::int32_t>& order);

/// The features that no order of a square A with a symmetric pattern can exceed: the columns of a
/// row are neighbours, and R(T) is the smaller of T, as T rows have at most T entries in a column,
/// and of the entries per row that is not empty, as each column that is not empty is read by one
/// tile at least. Takes the time of a pass over the lengths of the rows.
MatrixFeatures ideal_features(const RowPattern& A);

/// The features that a good order could give a square A: R(T) of rows in breadth-first order
/// around a few of them. An estimate that needs no order of all rows.
MatrixFeatures possible_features(const RowPattern& A);

}  // namespace heddle::detail
