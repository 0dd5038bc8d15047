#pragma once

#include <cassert>
#include <heddle/linalg/buffer.hpp>

namespace heddle {

/// A read-only small dense matrix (Gram matrices, coefficients, Ritz vectors) in the memory of
/// `Space`: double, column-major, entry (i, j) is `data[i + j·ld]`. Always double: sums over n rows
/// of float blocks are kept in double too.
template <class Space>
struct ConstSmallView {
  const double* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 0;

  ConstSmallView block(Index i, Index j, Index row_count, Index col_count) const noexcept {
    assert(i >= 0 && j >= 0 && i + row_count <= rows && j + col_count <= cols);
    return {data + i + j * ld, row_count, col_count, ld};
  }
  const double& operator()(Index i,
                           Index j) const noexcept requires std::same_as<Space, HostSpace> {
    return data[i + j * ld];
  }
};

/// A writable small dense matrix.
template <class Space>
struct SmallView {
  double* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 0;

  operator ConstSmallView<Space>() const noexcept { return {data, rows, cols, ld}; }
  SmallView block(Index i, Index j, Index row_count, Index col_count) const noexcept {
    assert(i >= 0 && j >= 0 && i + row_count <= rows && j + col_count <= cols);
    return {data + i + j * ld, row_count, col_count, ld};
  }
  double& operator()(Index i, Index j) const noexcept requires std::same_as<Space, HostSpace> {
    return data[i + j * ld];
  }
};

/// Owns memory for small matrices of up to `capacity` entries; `view(r, c)` is a packed r×c matrix
/// over its start. Allocates once.
template <class Space>
class SmallMatrix {
 public:
  using ContextType = typename ContextOf<Space>::type;

  SmallMatrix() = default;
  SmallMatrix(ContextType& context, Index max_rows, Index max_cols)
      : buffer_(context, static_cast<std::size_t>(max_rows * max_cols)) {}

  SmallView<Space> view(Index rows, Index cols) noexcept {
    assert(static_cast<std::size_t>(rows * cols) <= buffer_.size());
    return {buffer_.data(), rows, cols, rows};
  }

 private:
  Buffer<double, Space> buffer_;
};

}  // namespace heddle
