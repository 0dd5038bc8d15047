#pragma once

#include <algorithm>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <string>
#include <string_view>

namespace heddle::test {

/// The first violated invariant of A as a matrix in compressed sparse rows, empty if all hold:
/// offsets ascend from 0 to nnz, columns are in range and ascend in each row.
template <class T>
std::string csr_fault(const CsrView<T, HostSpace>& A) {
  if (A.row_offsets[0] != 0) return "the first offset is not 0";
  if (A.row_offsets[A.rows] != A.nnz) return "the last offset is not nnz";
  for (Index row = 0; row < A.rows; ++row) {
    const Index begin = A.row_offsets[row];
    const Index end = A.row_offsets[row + 1];
    if (begin > end || end > A.nnz) return "bad offsets of row " + std::to_string(row);
    for (Index k = begin; k < end; ++k) {
      const bool in_range = A.columns[k] >= 0 && A.columns[k] < A.cols;
      const bool ascending = k == begin || A.columns[k - 1] < A.columns[k];
      if (!in_range || !ascending) return "bad columns in row " + std::to_string(row);
    }
  }
  return {};
}

/// Whether A and B are equal to the last bit.
template <class T>
bool same_bits(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B) {
  const auto bytes = [](const T* values, Index count) {
    return std::string_view(reinterpret_cast<const char*>(values),
                            static_cast<std::size_t>(count) * sizeof(T));
  };
  return A.rows == B.rows && A.cols == B.cols && A.nnz == B.nnz &&
         std::equal(A.row_offsets, A.row_offsets + A.rows + 1, B.row_offsets) &&
         std::equal(A.columns, A.columns + A.nnz, B.columns) &&
         bytes(A.values, A.nnz) == bytes(B.values, B.nnz);
}

}  // namespace heddle::test
