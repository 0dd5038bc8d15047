#pragma once

#include <filesystem>
#include <functional>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

/// Data of a problem in host memory: matrices and blocks that belong to the caller, or are shared.
namespace heddle {

/// A matrix in host memory: compressed sparse rows, or a callable that multiplies by it. Copies
/// share the data. What belongs to the caller must outlive every copy, unchanged.
template <Scalar T>
class HostMatrix {
 public:
  /// Y = A X for row-major blocks in host memory, X cols×b, Y rows×b, b ≥ 1, not overlapping.
  using Apply = std::function<void(ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y)>;

  /// 0×0.
  HostMatrix() = default;

  /// Takes over A, whose context must outlive every copy.
  HostMatrix(HostCsrMatrix<T> A);

  /// The caller's rows×cols matrix in compressed sparse rows: row i holds the entries
  /// row_offsets[i] … row_offsets[i+1] − 1 of `columns` (0-based, ascending in a row) and `values`.
  /// Row offsets are 64-bit or 32-bit integers, columns are 32-bit integers, values are floats or
  /// doubles. Offsets of 64 bits, columns, and values of type T are not copied; offsets of 32 bits
  /// and values of the other type are widened into memory of the matrix. Throws `InvalidArgument`
  /// for sizes that do not fit, offsets that fall, and columns outside the matrix or out of order.
  template <std::ranges::contiguous_range Offsets, std::ranges::contiguous_range Values>
  HostMatrix(Index rows, Index cols, const Offsets& row_offsets,
             std::span<const std::int32_t> columns, const Values& values)
      : HostMatrix(rows, cols, constant(row_offsets), columns, constant(values)) {}

  HostMatrix(Index rows, Index cols, std::span<const std::int64_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const double> values);
  HostMatrix(Index rows, Index cols, std::span<const std::int64_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const float> values);
  HostMatrix(Index rows, Index cols, std::span<const std::int32_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const double> values);
  HostMatrix(Index rows, Index cols, std::span<const std::int32_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const float> values);

  /// A matrix that is not stored: `apply` multiplies by it. Throws `InvalidArgument` if `apply` is
  /// empty or a size is negative.
  HostMatrix(Index rows, Index cols, Apply apply);

  /// The matrix in the Matrix Market file at `path`. Throws what `read_matrix_market` throws.
  static HostMatrix read(const std::filesystem::path& path);

  /// The matrix that `spec` describes. Throws what `heddle::generate` throws.
  static HostMatrix generate(const GallerySpec& spec);

  Index rows() const noexcept { return view_.rows; }
  Index cols() const noexcept { return view_.cols; }
  Index nnz() const noexcept { return view_.nnz; }  ///< 0 where the matrix is not stored

  /// Whether the matrix is stored; else only `apply` knows it.
  bool is_stored() const noexcept { return !apply_; }

  /// The stored matrix. Where it is not stored, only the sizes are set.
  CsrView<T, HostSpace> view() const noexcept { return view_; }

  const Apply& apply() const noexcept { return apply_; }

 private:
  template <class Range>
  static auto constant(const Range& range) {
    return std::span<const std::ranges::range_value_t<Range>>(std::ranges::data(range),
                                                              std::ranges::size(range));
  }

  template <class Offset, class Value>
  void refer_to(std::span<const Offset> row_offsets, std::span<const std::int32_t> columns,
                std::span<const Value> values);

  CsrView<T, HostSpace> view_;
  std::shared_ptr<const void> owner_;  // of what `view_` points to; null where the caller owns it
  Apply apply_;
};

/// A row-major block in host memory. Copies share the data. What belongs to the caller must outlive
/// every copy, unchanged.
template <Scalar T>
class HostBlock {
 public:
  /// 0×0.
  HostBlock() = default;

  /// Takes over X. `context`: that of X, kept alive; null where it outlives every copy anyway.
  HostBlock(MultiVector<T, HostSpace> X, std::shared_ptr<const HostContext> context = nullptr);

  /// The caller's block.
  explicit HostBlock(ConstBlockView<T, HostSpace> X) noexcept : view_(X) {}

  /// The caller's rows×cols block, one row after the other. Throws `InvalidArgument` if `values`
  /// does not hold rows·cols numbers.
  HostBlock(Index rows, Index cols, std::span<const T> values);

  Index rows() const noexcept { return view_.rows(); }
  Index cols() const noexcept { return view_.cols(); }
  ConstBlockView<T, HostSpace> view() const noexcept { return view_; }
  ConstBlockView<T, HostSpace> columns(Index first, Index count) const noexcept {
    return view_.columns(first, count);
  }

 private:
  ConstBlockView<T, HostSpace> view_;
  std::shared_ptr<const void> owner_;
};

using Matrix = HostMatrix<double>;
using Block = HostBlock<double>;

}  // namespace heddle
