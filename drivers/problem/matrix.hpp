#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>

/// Matrices and blocks in host memory, as parts of a problem. They refer to memory of the caller,
/// or share ownership of their memory.
namespace heddle {

/// Facts about the whole of a matrix of which each process made its own rows.
struct WholeMatrix {
  Index nnz = 0;       ///< stored entries of all processes
  double largest = 0;  ///< the largest absolute value of an entry
  std::shared_ptr<const Partition>
      partition{};  ///< of the rows, which have the order of the matrix
};

/// What row offsets and columns of a caller's matrix may be: signed integers of 32 or 64 bits.
template <class I>
concept CsrIndex = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

/// An array of such integers: `std::vector`, `std::span`, an array of C.
template <class R>
concept CsrIndexRange = std::ranges::contiguous_range<R> && CsrIndex<std::ranges::range_value_t<R>>;

/// An array of floats or doubles or, for complex matrices, of complex numbers.
template <class R, class T>
concept ScalarRange = std::ranges::contiguous_range<R> && Scalar<std::ranges::range_value_t<R>> &&
    (kComplex<T> || RealScalar<std::ranges::range_value_t<R>>);

/// A matrix in host memory, either stored as compressed sparse rows or given by a callable that
/// multiplies by it. Copies share the data. Data of the caller must outlive every copy, unchanged.
template <Scalar T>
class HostMatrix {
 public:
  /// Y = A X for row-major blocks in host memory, X cols×b, Y rows×b, b ≥ 1, not overlapping.
  using Apply = std::function<void(ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y)>;

  /// 0×0.
  HostMatrix() = default;

  /// Takes ownership of A. `context` is the context of A, which is kept alive. It may be null if it
  /// outlives every copy anyway.
  HostMatrix(HostCsrMatrix<T> A, std::shared_ptr<const HostContext> context = nullptr);

  /// The same for the rows of this process of a distributed matrix, of which `whole` is known.
  HostMatrix(DistributedCsr<T, HostSpace> A, WholeMatrix whole);

  /// The same where no process knows more than its rows.
  explicit HostMatrix(DistributedCsr<T, HostSpace> A);

  /// The caller's matrix A, which is neither copied nor checked.
  explicit HostMatrix(CsrView<T, HostSpace> A) noexcept : view_(A) {}

  /// The caller's rows×cols matrix in compressed sparse rows: row i holds the entries
  /// row_offsets[i] … row_offsets[i+1] − 1 of `columns` (0-based, ascending in a row) and `values`.
  /// Row offsets of 64 bits, columns of 32 bits, and values of type T are not copied. Arrays of the
  /// other types are converted into memory that the matrix owns. Throws `InvalidArgument` for sizes
  /// that do not fit, offsets that fall, columns outside the matrix or out of order, and matrices
  /// with more than 2³¹ − 1 columns.
  template <CsrIndexRange Offsets, CsrIndexRange Columns, ScalarRange<T> Values>
  HostMatrix(Index rows, Index cols, const Offsets& row_offsets, const Columns& columns,
             const Values& values)
      : view_(CsrView<T, HostSpace>{rows, cols}) {
    refer_to(constant(row_offsets), constant(columns), constant(values));
  }

  /// The same, from spans that a call may write as {pointer, size}.
  HostMatrix(Index rows, Index cols, std::span<const std::int64_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const double> values)
      : view_(CsrView<T, HostSpace>{rows, cols}) {
    refer_to(row_offsets, columns, values);
  }
  HostMatrix(Index rows, Index cols, std::span<const std::int64_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const float> values)
      : view_(CsrView<T, HostSpace>{rows, cols}) {
    refer_to(row_offsets, columns, values);
  }
  HostMatrix(Index rows, Index cols, std::span<const std::int32_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const double> values)
      : view_(CsrView<T, HostSpace>{rows, cols}) {
    refer_to(row_offsets, columns, values);
  }
  HostMatrix(Index rows, Index cols, std::span<const std::int32_t> row_offsets,
             std::span<const std::int32_t> columns, std::span<const float> values)
      : view_(CsrView<T, HostSpace>{rows, cols}) {
    refer_to(row_offsets, columns, values);
  }

  /// The same from pointers to rows + 1 row offsets, and to as many columns and values as the last
  /// of these says.
  template <class Offsets, class Columns, class Values>
  requires std::is_pointer_v<Offsets> && std::is_pointer_v<Columns> && std::is_pointer_v<Values>
  HostMatrix(Index rows, Index cols, const Offsets& row_offsets, const Columns& columns,
             const Values& values)
      : HostMatrix(rows, cols, array("row offsets", row_offsets, rows + 1),
                   array("columns", columns, entries(row_offsets, rows)),
                   array("values", values, entries(row_offsets, rows))) {}

  /// A matrix that is not stored: `apply` multiplies by it. Throws `InvalidArgument` if `apply` is
  /// empty or a size is negative.
  HostMatrix(Index rows, Index cols, Apply apply);

  /// The matrix in the file at `path`, of any format that heddle reads. Throws as `read_matrix`
  /// does.
  static HostMatrix read(const std::filesystem::path& path);

  /// The matrix that `spec` describes. Throws as `heddle::generate` does.
  static HostMatrix generate(const GallerySpec& spec);

  /// The sizes of the whole matrix, also where it is distributed.
  Index rows() const noexcept { return row_range(view_).global; }
  Index cols() const noexcept { return column_range(view_).global; }

  /// The number of stored entries, 0 if the matrix is not stored. Of a distributed matrix those of
  /// all processes if they are known, else those of this process in its own columns.
  Index nnz() const noexcept { return whole_ ? whole_->nnz : view_.own.nnz; }

  /// The largest absolute value of a stored entry, leaving NaN out. Of a distributed matrix as
  /// `nnz`.
  double largest() const noexcept;

  /// Set if each process has only its own rows of the matrix from the beginning. Null otherwise,
  /// and then process 0 has all rows.
  const WholeMatrix* whole() const noexcept { return whole_ ? &*whole_ : nullptr; }

  /// Whether the matrix is stored. If not, it is given by `apply` alone.
  bool is_stored() const noexcept { return !apply_; }

  /// The stored matrix. If the matrix is not stored, only the sizes of the view are set. Throws
  /// `InvalidArgument` if processes share its rows.
  CsrView<T, HostSpace> view() const { return view_.whole(); }

  /// The same, also of a matrix whose rows processes share.
  DistributedCsrView<T, HostSpace> distributed_view() const noexcept { return view_; }

  /// The callable that multiplies by the matrix. Empty if the matrix is stored.
  const Apply& apply() const noexcept { return apply_; }

 private:
  template <class Range>
  static auto constant(const Range& range) {
    return std::span<const std::ranges::range_value_t<Range>>(std::ranges::data(range),
                                                              std::ranges::size(range));
  }

  /// `size` numbers from `first` on. Throws for a null pointer and for a negative size.
  template <class Number>
  static std::span<const Number> array(const char* what, const Number* first, Index size) {
    check_array(what, first, size);
    return {first, static_cast<std::size_t>(size)};
  }

  template <class Offset>
  static Index entries(const Offset* row_offsets, Index rows) {
    if (rows < 0) return 0;  // which is refused with the other sizes
    return static_cast<Index>(array("row offsets", row_offsets, rows + 1).back());
  }

  static void check_array(const char* what, const void* first, Index size);

  template <CsrIndex Offset, CsrIndex Column, Scalar Value>
  void refer_to(std::span<const Offset> row_offsets, std::span<const Column> columns,
                std::span<const Value> values);

  DistributedCsrView<T, HostSpace> view_;
  std::shared_ptr<const void> owner_;  // owns the arrays of `view_`. Null if the caller owns them
  Apply apply_;
  std::optional<WholeMatrix> whole_;
};

/// A row-major block in host memory. Copies share the data. Data of the caller must outlive every
/// copy, unchanged.
template <Scalar T>
class HostBlock {
 public:
  using Value = T;  ///< the type of an entry

  /// 0×0.
  HostBlock() = default;

  /// Takes ownership of X. `context` is that of X, which is kept alive, unless X is so small that
  /// it is copied. It may be null if it outlives every copy anyway.
  HostBlock(MultiVector<T, HostSpace> X, std::shared_ptr<const HostContext> context = nullptr);

  /// A block that the caller owns. It is not copied.
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

/// A matrix in double precision, as problems have it.
using Matrix = HostMatrix<double>;
/// A block in double precision.
using Block = HostBlock<double>;

/// The same of complex numbers.
using ComplexMatrix = HostMatrix<std::complex<double>>;
using ComplexBlock = HostBlock<std::complex<double>>;

}  // namespace heddle
