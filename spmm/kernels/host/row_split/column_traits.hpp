#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Properties of the columns of neighbouring rows, estimated from a sample of rows.
struct ColumnTraits {
  /// In most rows, the last column is at most a few places further than in the row before.
  bool advances = false;
  /// The distance between a row and the middle of its farthest group of columns, if it is the same
  /// for most rows, else 0. It is the number of rows per plane of a 3-D grid, or per line of a 2-D
  /// grid.
  Index plane_rows = 0;
  /// Mean distance between a row's first and last column.
  Index spread = 0;
};

/// Inspects a few hundred evenly spaced rows.
template <Scalar T>
ColumnTraits column_traits(const CsrView<T, HostSpace>& A);

}  // namespace heddle::detail
