#pragma once

#include <cstdint>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Aᵀ without values: its pattern in compressed sparse rows, and the position of each entry in A.
template <class Space>
struct TransposedPattern {
  Buffer<std::int64_t, Space> row_offsets;  ///< A.cols + 1
  Buffer<std::int32_t, Space> columns;      ///< A.nnz, ascending in a row
  Buffer<std::uint32_t, Space> positions;   ///< A.nnz, among A's values

  /// The pattern with A's values, which are in A's order and must be read through `positions`.
  template <Scalar T>
  CsrView<T, Space> view(const CsrView<T, Space>& A) const noexcept {
    return {A.cols, A.rows, A.nnz, row_offsets.data(), columns.data(), A.values};
  }
};

/// Bytes that a product of Aᵀ with N columns moves at least, where `view` is the pattern of Aᵀ:
/// nnz·(sizeof(T) + 8) + (rows + 1)·sizeof(offset) + (cols + rows)·N·sizeof(T).
template <Scalar T, class Space>
double indexed_bytes(const CsrView<T, Space>& At, Index N) noexcept {
  constexpr std::size_t kEntry = sizeof(T) + sizeof(std::int32_t) + sizeof(std::uint32_t);
  return static_cast<double>(At.nnz) * kEntry +
         static_cast<double>(At.rows + 1) * sizeof(std::int64_t) +
         static_cast<double>(At.rows + At.cols) * static_cast<double>(N) * sizeof(T);
}

/// The pattern of Aᵀ, by a counting sort of A's entries. A's values are not read. Runs in parallel
/// with the same result for every number of threads. Throws `OutOfMemory`, and `InvalidArgument` if
/// A has more rows than 32-bit columns can address or more entries than 32-bit positions can.
template <Scalar T>
TransposedPattern<HostSpace> transposed_pattern(HostContext& context,
                                                const CsrView<T, HostSpace>& A);

}  // namespace heddle::detail
