#pragma once

#include <cstdint>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Aᵀ without values: its pattern in compressed sparse rows, and where A keeps each entry's value.
template <class Space>
struct TransposedPattern {
  Buffer<std::int64_t, Space> row_offsets;  ///< A.cols + 1
  Buffer<std::int32_t, Space> columns;      ///< A.nnz, ascending in a row
  Buffer<std::uint32_t, Space> positions;   ///< A.nnz, among A's values

  /// The pattern with A's values, which stand in the order of A: to be read through `positions`.
  template <Scalar T>
  CsrView<T, Space> view(const CsrView<T, Space>& A) const noexcept {
    return {A.cols, A.rows, A.nnz, row_offsets.data(), columns.data(), A.values};
  }
};

/// nnz·(sizeof(T) + 8) + (rows + 1)·sizeof(offset) + (cols + rows)·N·sizeof(T): what a product of N
/// columns with Aᵀ, the `view` of its pattern, moves at least.
template <Scalar T, class Space>
double indexed_bytes(const CsrView<T, Space>& At, Index N) noexcept {
  constexpr std::size_t kEntry = sizeof(T) + sizeof(std::int32_t) + sizeof(std::uint32_t);
  return static_cast<double>(At.nnz) * kEntry +
         static_cast<double>(At.rows + 1) * sizeof(std::int64_t) +
         static_cast<double>(At.rows + At.cols) * static_cast<double>(N) * sizeof(T);
}

/// The pattern of Aᵀ; A's values are not read. Two passes over A by counting, in parallel, the same
/// for every number of threads. Throws `OutOfMemory`, and `InvalidArgument` if A has more rows than
/// 32-bit columns can name or more entries than 32-bit positions can.
template <Scalar T>
TransposedPattern<HostSpace> transposed_pattern(HostContext& context,
                                                const CsrView<T, HostSpace>& A);

}  // namespace heddle::detail
