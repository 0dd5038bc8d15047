#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// A sparse matrix in compressed sparse rows without its values, in host memory. See `CsrView` for
/// the layout. Does not own the memory.
struct RowPattern {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  const std::int64_t* row_offsets = nullptr;  ///< rows + 1 entries
  const std::int32_t* columns = nullptr;      ///< nnz entries, 0-based

  Index length(Index row) const noexcept { return row_offsets[row + 1] - row_offsets[row]; }
};

template <class T>
RowPattern pattern_of(const CsrView<T, HostSpace>& A) noexcept {
  return {A.rows, A.cols, A.nnz, A.row_offsets, A.columns};
}

}  // namespace heddle
