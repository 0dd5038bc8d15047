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

/// The features that a good order could give a square A: R(T) of rows in breadth-first order
/// around a few of them. An estimate that needs no order of all rows.
MatrixFeatures possible_features(const RowPattern& A);

}  // namespace heddle::detail
