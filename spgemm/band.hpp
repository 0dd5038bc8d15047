#pragma once

#include <cstdint>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <memory>
#include <vector>

/// Products of band matrices in diagonal format, C = A B. Diagonal d of a matrix holds the entries
/// (i, i + d). The product of diagonals d of A and e of B adds to diagonal d + e of C.
/// Sources: Bell, Garland, SC 2009 (the format). Matam, Indarapu, Kothapalli, Sparse Matrix-Matrix
/// Multiplication on Modern Architectures, HiPC 2012, section 4.3 (its products).
namespace heddle {

/// The shape of a matrix and the diagonals of it that are stored.
struct DiaShape {
  Index rows = 0;
  Index cols = 0;
  std::vector<Index> offsets;  ///< d of each stored diagonal, ascending, −rows < d < cols

  /// The number of stored diagonals.
  Index diagonals() const noexcept { return static_cast<Index>(offsets.size()); }
};

/// An owning matrix in diagonal format, uninitialised: A(i, i + offsets[k]) is `values()[k·ld +
/// i]`, and the value there is 0 where i + offsets[k] is no column. Diagonals lie one after the
/// other. The context must outlive it.
template <Scalar T, class Space>
class DiaMatrix {
 public:
  using ContextType = typename ContextOf<Space>::type;

  DiaMatrix() = default;

  /// Allocates ld values per diagonal. Throws `OutOfMemory`.
  DiaMatrix(ContextType& context, DiaShape shape)
      : shape_(std::move(shape)),
        ld_((shape_.rows + kAlignment - 1) / kAlignment * kAlignment),
        values_(context, static_cast<std::size_t>(ld_ * shape_.diagonals())) {}

  const DiaShape& shape() const noexcept { return shape_; }
  Index ld() const noexcept { return ld_; }
  std::size_t size() const noexcept { return values_.size(); }
  T* values() noexcept { return values_.data(); }
  const T* values() const noexcept { return values_.data(); }

 private:
  static constexpr Index kAlignment = 32;  // rows, so that diagonals begin on cache lines

  DiaShape shape_;
  Index ld_ = 0;
  Buffer<T, Space> values_;
};

/// A matrix in diagonal format in host memory.
template <Scalar T>
using HostDiaMatrix = DiaMatrix<T, HostSpace>;

/// The diagonals of A on which entries are stored.
template <Scalar T>
DiaShape dia_shape(HostContext& context, CsrView<T, HostSpace> A);

/// A in diagonal format. Entries that A does not store become 0. Throws `InvalidArgument` if A has
/// an entry off the diagonals of `shape`, `OutOfMemory`.
template <Scalar T>
HostDiaMatrix<T> dia_from_csr(HostContext& context, CsrView<T, HostSpace> A, DiaShape shape);

/// A copy in device memory, and back. Both wait for the copy.
template <Scalar T>
DiaMatrix<T, DeviceSpace> place(CudaContext& context, const HostDiaMatrix<T>& A);
template <Scalar T>
HostDiaMatrix<T> fetch(CudaContext& context, HostContext& host, const DiaMatrix<T, DeviceSpace>& A);

/// Which entries of a matrix in diagonal format are stored entries of the sparse matrix, and not
/// zeros that fill its diagonals: one bit per place.
class DiaPattern {
 public:
  /// No entry.
  explicit DiaPattern(DiaShape shape);

  const DiaShape& shape() const noexcept { return shape_; }
  /// Rows in words of 64 bits.
  Index words() const noexcept { return words_; }
  /// Word w of the bits of a diagonal.
  std::uint64_t word(Index diagonal, Index w) const noexcept {
    return bits_[static_cast<std::size_t>(diagonal * words_ + w)];
  }
  std::uint64_t& word(Index diagonal, Index w) noexcept {
    return bits_[static_cast<std::size_t>(diagonal * words_ + w)];
  }
  /// Bit b says whether the entry of this diagonal in row + b is stored. `row` may lie outside the
  /// matrix, where nothing is stored.
  std::uint64_t bits_from(Index diagonal, Index row) const noexcept;
  /// The number of entries.
  Index nnz() const noexcept;

 private:
  DiaShape shape_;
  Index words_;
  std::vector<std::uint64_t> bits_;
};

/// The stored entries of A. Throws as `dia_from_csr` does.
template <Scalar T>
DiaPattern dia_pattern(HostContext& context, CsrView<T, HostSpace> A, DiaShape shape);

/// The pattern of C = A B, as `SpgemmPlan` has it: (i, j) for which some k has stored entries (i,
/// k) and (k, j). Throws `InvalidArgument` if the shapes do not fit.
DiaPattern product_pattern(HostContext& context, const DiaPattern& A, const DiaPattern& B);

/// The entries of A that `pattern` names, zeros included. Throws `InvalidArgument` if the pattern
/// has another shape.
template <Scalar T>
HostCsrMatrix<T> csr_from_dia(HostContext& context, const HostDiaMatrix<T>& A,
                              const DiaPattern& pattern);

namespace detail {
template <class Space>
struct BandSchedule;
}  // namespace detail

/// The plan of C = A B in diagonal format, for a `HostContext` or a `CudaContext`. C has the
/// diagonals d + e for all d of A and e of B. Each entry is summed over k, ascending, in the
/// precision T, so it has the same bits in every run and for every number of threads. All values
/// of A and B must be finite: a zero that fills a diagonal makes NaN of an infinite factor.
template <Scalar T, class Ctx>
class BandPlan {
 public:
  using Space = typename Ctx::Space;
  /// The type of the factors and the product.
  using Matrix = DiaMatrix<T, Space>;

  /// Throws `InvalidArgument` with both shapes if A has not as many columns as B has rows.
  BandPlan(Ctx& context, const DiaShape& A, const DiaShape& B);

  /// The shape of C.
  const DiaShape& product() const noexcept { return product_; }

  /// Multiplications of a product, zeros included: the paper's R = A_r A_d B_d.
  Index multiplications() const noexcept;

  /// C = A B. A and B have the shapes that the plan was made for. Throws `InvalidArgument` if they
  /// have others, `OutOfMemory`.
  Matrix multiply(Ctx& context, const Matrix& A, const Matrix& B) const;

  /// Rows first … last − 1 of C = A B in a result of `multiply` or another matrix of the shape
  /// `product()`. Throws `InvalidArgument` if a shape is another one.
  void update(Ctx& context, const Matrix& A, const Matrix& B, Matrix& C, Index first,
              Index last) const;

 private:
  DiaShape A_;
  DiaShape B_;
  DiaShape product_;
  std::shared_ptr<const detail::BandSchedule<Space>> schedule_;
};

}  // namespace heddle
