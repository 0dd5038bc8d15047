#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <span>
#include <vector>

namespace heddle {

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
