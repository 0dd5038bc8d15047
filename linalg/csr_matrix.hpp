#pragma once

#include <heddle/linalg/buffer.hpp>
#include <heddle/linalg/views.hpp>
#include <span>
#include <vector>

namespace heddle {

/// Throws `InvalidArgument` unless a `CsrMatrix` can have this shape: nothing negative, columns
/// that 32-bit indices can name, offsets that 64 bits can hold.
void check_csr_shape(Index rows, Index cols, Index nnz);

/// Owns a sparse matrix in compressed sparse rows (see `CsrView`), uninitialised. The context must
/// outlive it.
template <Scalar T, class Space>
class CsrMatrix {
 public:
  using ContextType = typename ContextOf<Space>::type;

  CsrMatrix() = default;

  /// Room for rows + 1 offsets and nnz entries, uninitialised. Throws `OutOfMemory`, and
  /// `InvalidArgument` by `check_csr_shape`.
  CsrMatrix(ContextType& context, Index rows, Index cols, Index nnz)
      : rows_(rows), cols_(cols), nnz_(nnz) {
    check_csr_shape(rows, cols, nnz);
    row_offsets_ = {context, static_cast<std::size_t>(rows + 1)};
    columns_ = {context, static_cast<std::size_t>(nnz)};
    values_ = {context, static_cast<std::size_t>(nnz)};
  }

  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return cols_; }
  Index nnz() const noexcept { return nnz_; }

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

/// A matrix on the host.
template <Scalar T>
using HostCsrMatrix = CsrMatrix<T, HostSpace>;

/// One entry of a matrix given by coordinates, 0-based.
template <Scalar T>
struct Triplet {
  Index row;
  Index col;
  T value;
};

/// The rows×cols matrix whose entry (i, j) is the sum of the triplets there, summed in the order
/// given; columns ascend in each row. Throws `InvalidArgument` if a triplet lies outside.
template <Scalar T>
HostCsrMatrix<T> csr_from_triplets(HostContext& context, Index rows, Index cols,
                                   std::span<const Triplet<T>> triplets);

/// Aᵀ, columns ascending. Throws `InvalidArgument` if A has more rows than 32-bit column indices
/// can name.
template <Scalar T>
HostCsrMatrix<T> transpose(HostContext& context, CsrView<T, HostSpace> A);

/// A with its values rounded to U; those beyond the range of U become infinite.
template <Scalar U, Scalar T>
HostCsrMatrix<U> convert(HostContext& context, CsrView<T, HostSpace> A);

/// Whether every entry off the diagonal is zero.
template <Scalar T>
bool is_diagonal(CsrView<T, HostSpace> A);

/// A pair of entries that shows that a matrix is not symmetric.
struct Asymmetry {
  Index row;  ///< 0-based
  Index col;
  double value;       ///< A(row, col)
  double transposed;  ///< A(col, row)
};

/// The entry pair of largest |A(i,j) − A(j,i)|, the first of them by rows, if that exceeds
/// `tolerance`·max|A| (over the finite entries); empty if A is symmetric to within it. At most one
/// element. Entries not stored are 0; NaN differs from all but NaN, infinitely. Throws
/// `InvalidArgument` if A is not square.
template <Scalar T>
std::vector<Asymmetry> find_asymmetry(HostContext& context, CsrView<T, HostSpace> A,
                                      double tolerance);

/// The graph Laplacian that `graph_laplacian` builds.
enum class LaplacianKind {
  combinatorial,  ///< D − W
  normalized,     ///< I − D^(-1/2) W D^(-1/2); rows of isolated vertices are zero
};

/// The Laplacian of the undirected graph with an edge {i, j}, i ≠ j, of weight 1 wherever A(i, j)
/// or A(j, i) is stored and not zero (NaN is not zero). D holds the vertex degrees. The diagonal is
/// always stored. Throws `InvalidArgument` if A is not square. Source: F. Chung, Spectral Graph
/// Theory, 1997.
template <Scalar T>
HostCsrMatrix<T> graph_laplacian(HostContext& context, CsrView<T, HostSpace> A, LaplacianKind kind);

}  // namespace heddle
