#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <span>
#include <vector>

namespace heddle {

/// A coordinate-format entry, 0-based.
template <Scalar T>
struct Triplet {
  Index row;  ///< of the entry
  Index col;  ///< of the entry
  T value;    ///< of the entry
};

/// The rows×cols matrix whose entry (i, j) is the sum of the triplets with these indices, summed in
/// the order given. Columns ascend in each row. Throws `InvalidArgument` if a triplet's indices are
/// out of range.
template <Scalar T>
HostCsrMatrix<T> csr_from_triplets(HostContext& context, Index rows, Index cols,
                                   std::span<const Triplet<T>> triplets);

/// Aᵀ with ascending columns in each row. Throws `InvalidArgument` if A has more rows than 32-bit
/// column indices can address.
template <Scalar T>
HostCsrMatrix<T> transpose(HostContext& context, CsrView<T, HostSpace> A);

/// Aᴴ, which is the transpose of a real A. Otherwise as `transpose`.
template <Scalar T>
HostCsrMatrix<T> adjoint(HostContext& context, CsrView<T, HostSpace> A);

/// A with its values rounded to U. Values beyond the range of U become infinite. A real A also
/// becomes complex.
template <Scalar U, Scalar T>
HostCsrMatrix<U> convert(HostContext& context, CsrView<T, HostSpace> A);

/// Whether every off-diagonal entry of A is zero.
template <Scalar T>
bool is_diagonal(CsrView<T, HostSpace> A);

/// Whether A is square, and A and Aᴴ are equal, with the same entries stored. Takes one pass over
/// the entries up to the first one that differs.
template <Scalar T>
bool equals_transpose(CsrView<T, HostSpace> A);

/// The real form of A, 2·rows×2·cols: each entry a + ib is the block [a, −b; b, a] in rows 2i, 2i+1
/// and columns 2j, 2j+1. It maps the parts of x, one behind the other, to those of A x, and has
/// each eigenvalue of a Hermitian A twice. Throws `InvalidArgument` if it has too many rows or
/// columns.
HostCsrMatrix<double> real_form(HostContext& context, CsrView<std::complex<double>, HostSpace> A);

/// A pair of entries A(i,j) ≠ conj A(j,i), the evidence that a matrix is not symmetric, or not
/// Hermitian.
template <WideScalar W>
struct AsymmetryOf {
  Index row;     ///< 0-based
  Index col;     ///< 0-based
  W value;       ///< A(row, col)
  W transposed;  ///< A(col, row)
};

/// That of a real matrix.
using Asymmetry = AsymmetryOf<double>;

/// The pair of entries with the largest |A(i,j) − conj A(j,i)|, the first one in row order, if that
/// exceeds `tolerance`·max|A| (over the finite entries). Empty if A is symmetric, or Hermitian, to
/// within the tolerance. Entries not stored count as 0. Two NaNs count as equal, a NaN and a number
/// as infinitely different. Throws `InvalidArgument` if A is not square.
template <Scalar T>
std::vector<AsymmetryOf<Wide<T>>> find_asymmetry(HostContext& context, CsrView<T, HostSpace> A,
                                                 double tolerance);

/// The largest |a_ij − b_ij| of A and B, which have one shape. Entries not stored count as 0. Two
/// NaNs count as equal, a NaN and a number as infinitely different.
template <Scalar T>
double largest_difference(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B);

/// The symmetric matrix that has, at (i, j) and (j, i), that one of A(i, j) and A(j, i) whose
/// absolute value is larger, and the positive one of a and −a. Entries not stored count as 0. A NaN
/// is larger than any number. Of a list that holds each undirected edge once, it makes the
/// adjacency matrix. It leaves a symmetric A as it is. Throws `InvalidArgument` if A is not square.
template <Scalar T>
HostCsrMatrix<T> symmetrize(HostContext& context, CsrView<T, HostSpace> A);

/// The kinds of graph Laplacian that `graph_laplacian` builds.
enum class LaplacianKind {
  combinatorial,  ///< D − W
  normalized,     ///< I − D^(-1/2) W D^(-1/2); rows of isolated vertices are zero
};

/// The weight of an edge (i, j) of a graph given as a matrix A.
enum class EdgeWeights {
  stored,  ///< A(i, j), which must not be negative
  unit,    ///< 1 wherever A(i, j) is stored and not zero, whatever its value
};

/// How `graph_laplacian` makes the Laplacian.
struct LaplacianOptions {
  LaplacianKind kind = LaplacianKind::combinatorial;  ///< which Laplacian
  EdgeWeights weights = EdgeWeights::stored;          ///< what an edge weighs
  bool symmetrize = false;  ///< take `symmetrize(A)` where A is not symmetric
};

/// The Laplacian of the undirected graph with the weighted adjacency matrix A. W is A without its
/// diagonal, so that loops count for nothing, and D the diagonal matrix of the row sums of W. The
/// values are those of `scipy.sparse.csgraph.laplacian`. Zeros are no edges. The diagonal is always
/// stored. The result is symmetric to the bit.
///
/// Throws `InvalidArgument` if A is not square, for a weight that is negative or not finite, and
/// for a directed graph, unless `options.symmetrize` is set: one where the weights of (i, j) and
/// (j, i) differ by more than 10⁴ rounding errors. Rows in messages count from 1. Source: F. Chung,
/// Spectral Graph Theory, 1997.
///
/// `degrees`, if it is not null, receives the diagonal of D. Per connected component, the null
/// vector of the combinatorial Laplacian is 1, that of the normalised one D^(1/2) 1.
template <Scalar T>
HostCsrMatrix<T> graph_laplacian(HostContext& context, CsrView<T, HostSpace> A,
                                 const LaplacianOptions& options = {},
                                 std::vector<double>* degrees = nullptr);

/// (A + Aᴴ)/2, symmetric or Hermitian to the bit. Entries not stored count as 0. Throws
/// `InvalidArgument` if A is not square.
template <Scalar T>
HostCsrMatrix<T> symmetric_part(HostContext& context, CsrView<T, HostSpace> A);

/// The largest |a_ij − conj(a_ji)| of A relative to its largest finite entry, 0 for a Hermitian A.
/// Throws `InvalidArgument` if A is not square.
template <Scalar T>
double relative_asymmetry(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
