#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/row_range.hpp>
#include <memory>
#include <vector>

namespace heddle {

/// The rows of a distributed vector that pass between processes in a product with a distributed
/// matrix. The halo of a process is the rows that its part of the matrix needs and other processes
/// hold, in ascending order of their global numbers.
struct HaloLists {
  /// A run of rows for or from one process.
  struct Run {
    int process = 0;
    Index count = 0;
  };

  RowRange rows;                        ///< of Y = A X that this process holds
  RowRange columns;                     ///< rows of X that this process holds
  std::vector<Run> receive;             ///< who sends the halo, in its order
  std::vector<Run> send;                ///< who needs rows of this process
  std::vector<std::int32_t> send_rows;  ///< local numbers of these rows, run by run

  /// The number of rows of the halo.
  Index halo() const noexcept {
    Index count = 0;
    for (const Run& run : receive) count += run.count;
    return count;
  }
};

/// The entries of a distributed matrix in the rows of this process and in columns that belong to
/// other processes. Most rows have none, so that the others are stored alone: row k of `entries` is
/// row rows[k] of the matrix on this process. The columns of `entries` are the rows of the halo.
template <class T, class Space>
struct RemoteColumns {
  CsrMatrix<T, Space> entries;       ///< as many rows as `rows`, as many columns as the halo
  Buffer<std::int32_t, Space> rows;  ///< ascending
  std::shared_ptr<const HaloLists> lists;
};

/// The rows of A x that this process holds, and those of x.
template <class T, class Space>
RowRange row_range(const CsrView<T, Space>& A) noexcept {
  return A.remote != nullptr ? A.remote->lists->rows : RowRange::whole(A.rows);
}
template <class T, class Space>
RowRange column_range(const CsrView<T, Space>& A) noexcept {
  return A.remote != nullptr ? A.remote->lists->columns : RowRange::whole(A.cols);
}

/// The stored entries of A in the rows of this process.
template <class T, class Space>
Index local_entries(const CsrView<T, Space>& A) noexcept {
  return A.nnz + (A.remote != nullptr ? A.remote->entries.nnz() : 0);
}

}  // namespace heddle
