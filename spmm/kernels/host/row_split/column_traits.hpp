#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Where the columns of neighbouring rows lie, as far as a sample of rows shows it.
struct ColumnTraits {
  /// The last column moves on by at most a few places from one row to the next in most rows.
  bool advances = false;
  /// The distance between a row and the middle of its farthest group of columns, where it is the
  /// same for most rows: the rows of a plane of a 3-D grid, of a line of a 2-D one. Otherwise 0.
  Index plane_rows = 0;
  /// Mean distance between a row's first and last column.
  Index spread = 0;
};

/// Looks at some hundred rows, evenly spread.
template <Scalar T>
ColumnTraits column_traits(const CsrView<T, HostSpace>& A);

}  // namespace heddle::detail
