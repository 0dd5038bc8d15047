#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <vector>

namespace heddle {

/// First rows of the runs of rows of A with equal columns, cut where they exceed `max_rows`, and
/// the number of rows behind them. A on the host.
template <Scalar T>
std::vector<Index> runs_of_equal_rows(CsrView<T, HostSpace> A, Index max_rows);

/// The block-diagonal matrix of the inverses of A's diagonal blocks, block k of the rows
/// begins[k] … begins[k + 1] − 1, symmetric positive definite to the bit. A block without a
/// Cholesky factor counts as its diagonal, see `inverse_diagonal`. A on the host, square.
template <Scalar T>
HostCsrMatrix<T> inverse_diagonal_blocks(HostContext& context, CsrView<T, HostSpace> A,
                                         const std::vector<Index>& begins);

}  // namespace heddle
