#pragma once

#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/gallery/gallery.hpp>

/// Builds matrices row by row in parallel: rows are counted, the counts are summed to offsets, then
/// the rows are filled. The content of a row depends on its number alone, so the result does not
/// depend on the number of threads.
namespace heddle::gallery {

/// A rows×cols matrix with memory for `length(i)` entries in row i. Offsets are set, columns and
/// values are uninitialised.
template <Scalar T, class Length>
HostCsrMatrix<T> csr_with_row_lengths(HostContext& context, Index rows, Index cols,
                                      const Length& length) {
  Buffer<std::int32_t, HostSpace> lengths(context, static_cast<std::size_t>(rows));
  std::int32_t* const counts = lengths.data();
  parallel_for(context.threads(), rows,
               [&](Index i) { counts[i] = static_cast<std::int32_t>(length(i)); });
  Index nnz = 0;
  for (Index i = 0; i < rows; ++i) nnz += counts[i];
  HostCsrMatrix<T> A(context, rows, cols, nnz);
  std::int64_t* const offsets = A.row_offsets();
  offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) offsets[i + 1] = offsets[i] + counts[i];
  return A;
}

/// Rows `window` of a matrix with `cols` columns, whose row i holds the entries that `row(i, emit)`
/// passes to `emit(column, value)`, columns ascending. `row` is called twice per i, must emit the
/// same entries both times, and must not throw.
template <Scalar T, class Row>
HostCsrMatrix<T> csr_by_rows(HostContext& context, const RowWindow& window, Index cols,
                             const Row& row) {
  const Index first = window.first;
  HostCsrMatrix<T> A = csr_with_row_lengths<T>(context, window.rows(), cols, [&](Index i) {
    Index count = 0;
    row(first + i, [&count](Index, Wide<T>) { ++count; });
    return count;
  });
  const std::int64_t* const offsets = A.row_offsets();
  std::int32_t* const columns = A.columns();
  T* const values = A.values();
  parallel_for(context.threads(), window.rows(), [&](Index i) {
    std::int64_t k = offsets[i];
    row(first + i, [&](Index column, Wide<T> value) {
      columns[k] = static_cast<std::int32_t>(column);
      values[k] = static_cast<T>(value);
      ++k;
    });
  });
  return A;
}

}  // namespace heddle::gallery
