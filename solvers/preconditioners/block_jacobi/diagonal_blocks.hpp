#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <vector>

namespace heddle::detail {

/// The first row of each run of consecutive rows of A that have entries in the same columns. Runs
/// are cut after `max_rows` rows. The last element of the result is the number of rows. A is on the
/// host.
template <Scalar T>
std::vector<Index> runs_of_equal_rows(CsrView<T, HostSpace> A, Index max_rows);

/// The block-diagonal matrix of the inverses of A's diagonal blocks. Block k consists of the rows
/// begins[k] … begins[k + 1] − 1. The result is Hermitian to the bit, and positive definite: a
/// block without a Cholesky factor is replaced by its diagonal, with the replacements of
/// `inverse_diagonal`. A is on the host and square.
template <Scalar T>
HostCsrMatrix<T> inverse_diagonal_blocks(HostContext& context, CsrView<T, HostSpace> A,
                                         const std::vector<Index>& begins);

}  // namespace heddle::detail
