#pragma once

#include <cassert>
#include <cstdint>
#include <heddle/linalg/context/context.hpp>

namespace heddle {

/// A read-only view of an n×b block in the memory of `Space`, row-major: entry (i, j) is
/// `data()[i·ld + j]` with ld ≥ b. The b entries of a row are contiguous. Does not own the memory.
template <class T, class Space>
class ConstBlockView {
 public:
  using Value = T;  ///< the type of an entry

  ConstBlockView() = default;
  /// A block of the caller, which must outlive the view.
  ConstBlockView(const T* data, Index rows, Index cols, Index ld) noexcept
      : data_(data), rows_(rows), cols_(cols), ld_(ld) {
    assert(rows >= 0 && cols >= 0 && ld >= cols);
  }

  const T* data() const noexcept { return data_; }
  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return cols_; }
  Index ld() const noexcept { return ld_; }
  bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }

  /// Columns first … first + count − 1, all rows.
  ConstBlockView columns(Index first, Index count) const noexcept {
    assert(first >= 0 && count >= 0 && first + count <= cols_);
    return {data_ + first, rows_, count, ld_};
  }

  /// Entry (i, j). Host memory only.
  const T& operator()(Index i, Index j) const noexcept requires std::same_as<Space, HostSpace> {
    return data_[i * ld_ + j];
  }

 private:
  const T* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
  Index ld_ = 0;
};

/// A writable view of an n×b block. It derives from `ConstBlockView`, so that templates that read a
/// block deduce their scalar type from either.
template <class T, class Space>
class BlockView : public ConstBlockView<T, Space> {
  using Base = ConstBlockView<T, Space>;

 public:
  BlockView() = default;
  /// A block of the caller, which must outlive the view.
  BlockView(T* data, Index rows, Index cols, Index ld) noexcept : Base(data, rows, cols, ld) {}

  /// The cast is valid because the base was constructed from a writable pointer.
  T* data() const noexcept { return const_cast<T*>(Base::data()); }

  BlockView columns(Index first, Index count) const noexcept {
    assert(first >= 0 && count >= 0 && first + count <= this->cols());
    return {data() + first, this->rows(), count, this->ld()};
  }

  T& operator()(Index i, Index j) const noexcept requires std::same_as<Space, HostSpace> {
    return data()[i * this->ld() + j];
  }
};

/// A read-only view of a sparse matrix in compressed sparse rows: the entries of row i are
/// row_offsets[i] … row_offsets[i+1] − 1 of `columns` and `values`. Columns ascend in each row.
/// Does not own the memory. The matrix is whole: one whose rows processes share is a
/// `DistributedCsrView`.
template <class T, class Space>
struct CsrView {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  const std::int64_t* row_offsets = nullptr;  ///< rows + 1 entries
  const std::int32_t* columns = nullptr;      ///< nnz entries, 0-based
  const T* values = nullptr;                  ///< nnz entries
};

}  // namespace heddle
