#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <utility>

namespace heddle {

/// Throws `InvalidArgument` unless a `CsrMatrix` can have this shape: no negative size, column
/// indices that fit in 32 bits, offsets that fit in 64 bits.
void check_csr_shape(Index rows, Index cols, Index nnz);

/// An owning sparse matrix in compressed sparse rows, uninitialised. See `CsrView` for the layout.
/// The context must outlive it.
template <Scalar T, class Space>
class CsrMatrix {
 public:
  using ContextType = typename ContextOf<Space>::type;

  CsrMatrix() = default;

  /// Allocates rows + 1 offsets and nnz entries, uninitialised. Throws `OutOfMemory`, and
  /// `InvalidArgument` as `check_csr_shape` does.
  CsrMatrix(ContextType& context, Index rows, Index cols, Index nnz)
      : rows_(rows), cols_(cols), nnz_(nnz) {
    check_csr_shape(rows, cols, nnz);
    row_offsets_ = {context, static_cast<std::size_t>(rows + 1)};
    columns_ = {context, static_cast<std::size_t>(nnz)};
    values_ = {context, static_cast<std::size_t>(nnz)};
  }

  /// Takes over the rows + 1 offsets and the nnz columns, and allocates the values, uninitialised.
  /// Throws as above.
  CsrMatrix(ContextType& context, Index rows, Index cols, Index nnz,
            Buffer<std::int64_t, Space>&& row_offsets, Buffer<std::int32_t, Space>&& columns)
      : row_offsets_(std::move(row_offsets)),
        columns_(std::move(columns)),
        rows_(rows),
        cols_(cols),
        nnz_(nnz) {
    check_csr_shape(rows, cols, nnz);
    values_ = {context, static_cast<std::size_t>(nnz)};
  }

  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return cols_; }
  Index nnz() const noexcept { return nnz_; }

  /// The rows + 1 offsets.
  std::int64_t* row_offsets() noexcept { return row_offsets_.data(); }
  std::int32_t* columns() noexcept { return columns_.data(); }
  T* values() noexcept { return values_.data(); }

  CsrView<T, Space> view() const noexcept {
    return {rows_, cols_, nnz_, row_offsets_.data(), columns_.data(), values_.data()};
  }

 private:
  Buffer<std::int64_t, Space> row_offsets_;
  Buffer<std::int32_t, Space> columns_;
  Buffer<T, Space> values_;
  Index rows_ = 0;
  Index cols_ = 0;
  Index nnz_ = 0;
};

/// A sparse matrix in host memory.
template <Scalar T>
using HostCsrMatrix = CsrMatrix<T, HostSpace>;

}  // namespace heddle
