#pragma once

#include <cassert>
#include <heddle/linalg/data/buffer.hpp>

namespace heddle {

/// A read-only small dense matrix (a Gram matrix, coefficients, Ritz vectors) in the memory of
/// `Space`, column-major: entry (i, j) is `data[i + j·ld]`. T is double even for blocks of float,
/// because sums over n rows in single precision would lose half of the block's digits.
template <class T, class Space>
struct ConstSmallView {
  const T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 0;

  ConstSmallView block(Index i, Index j, Index row_count, Index col_count) const noexcept {
    assert(i >= 0 && j >= 0 && i + row_count <= rows && j + col_count <= cols);
    return {data + i + j * ld, row_count, col_count, ld};
  }
  const T& operator()(Index i, Index j) const noexcept requires std::same_as<Space, HostSpace> {
    return data[i + j * ld];
  }
};

/// A writable small dense matrix.
template <class T, class Space>
struct SmallView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 0;

  /// The same, read-only.
  operator ConstSmallView<T, Space>() const noexcept { return {data, rows, cols, ld}; }
  SmallView block(Index i, Index j, Index row_count, Index col_count) const noexcept {
    assert(i >= 0 && j >= 0 && i + row_count <= rows && j + col_count <= cols);
    return {data + i + j * ld, row_count, col_count, ld};
  }
  T& operator()(Index i, Index j) const noexcept requires std::same_as<Space, HostSpace> {
    return data[i + j * ld];
  }
};

/// An owning array for small matrices of up to `capacity` entries. `view(r, c)` is a packed r×c
/// matrix at its start. Allocates once.
template <class T, class Space>
class SmallMatrix {
 public:
  using ContextType = typename ContextOf<Space>::type;

  SmallMatrix() = default;
  /// Memory for max_rows·max_cols numbers. Throws `OutOfMemory`.
  SmallMatrix(ContextType& context, Index max_rows, Index max_cols)
      : buffer_(context, static_cast<std::size_t>(max_rows * max_cols)) {}

  SmallView<T, Space> view(Index rows, Index cols) noexcept {
    assert(static_cast<std::size_t>(rows * cols) <= buffer_.size());
    return {buffer_.data(), rows, cols, rows};
  }

 private:
  Buffer<T, Space> buffer_;
};

}  // namespace heddle
