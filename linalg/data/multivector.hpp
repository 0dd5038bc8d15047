#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// The leading dimension of a block: on a device the smallest one ≥ cols for which every row is
/// aligned to 16 bytes, in host memory cols.
template <Scalar T, class Space = DeviceSpace>
constexpr Index padded_ld(Index cols) noexcept {
  if constexpr (std::same_as<Space, HostSpace>) return cols;
  constexpr Index kPerVector = 16 / static_cast<Index>(sizeof(T));
  return (cols + kPerVector - 1) / kPerVector * kPerVector;
}

/// An owning n×b row-major block (b vectors of length n), uninitialised. See `ConstBlockView` for
/// the layout. The context must outlive it.
template <Scalar T, class Space>
class MultiVector {
 public:
  using ContextType = typename ContextOf<Space>::type;

  MultiVector() = default;

  /// Throws `OutOfMemory`.
  MultiVector(ContextType& context, Index rows, Index cols)
      : buffer_(context, static_cast<std::size_t>(rows * padded_ld<T, Space>(cols))),
        rows_(rows),
        cols_(cols) {}

  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return cols_; }
  Index ld() const noexcept { return padded_ld<T, Space>(cols_); }

  BlockView<T, Space> view() noexcept { return {buffer_.data(), rows_, cols_, ld()}; }
  ConstBlockView<T, Space> view() const noexcept { return {buffer_.data(), rows_, cols_, ld()}; }

  BlockView<T, Space> columns(Index first, Index count) noexcept {
    return view().columns(first, count);
  }
  ConstBlockView<T, Space> columns(Index first, Index count) const noexcept {
    return view().columns(first, count);
  }

 private:
  Buffer<T, Space> buffer_;
  Index rows_ = 0;
  Index cols_ = 0;
};

}  // namespace heddle
