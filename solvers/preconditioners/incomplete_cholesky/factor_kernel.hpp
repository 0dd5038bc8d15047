#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/triangular/row_flags.hpp>

namespace heddle::detail::cuda {

/// Replaces L, the lower triangle of a matrix Â with unit diagonal, by the incomplete factor of Â +
/// shift·I, and returns whether all pivots are acceptable (`kSmallestPivot`). Otherwise the values
/// of L are of no use. `rows` are the rows in the order of their levels. The diagonal ends each row
/// of L, and its value is not read.
///
/// One launch, one warp per row. A warp computes the entries of its row in the order of their
/// columns, and waits for the row of an entry just before it needs it. l_ij = (â_ij − Σ_k l_ik
/// conj(l_jk))/l_jj: the lanes take the entries of row j cyclically, look up their columns in row
/// i, and add their sums as a binary tree. In the order of levels a row depends on earlier rows
/// only, and blocks take rows in that order, so that what a row waits for is on the device already.
///
/// Reads row j once per entry (i, j), mostly through L2. Takes at least as long as there are levels
/// times the way of a row from one multiprocessor to another. Deterministic: flags decide when a
/// sum is computed, never in which order.
template <WideScalar W>
bool factor_in_place(CudaContext& context, CsrMatrix<W, DeviceSpace>& L,
                     const Buffer<std::int32_t, DeviceSpace>& rows, double shift, RowFlags& flags);

}  // namespace heddle::detail::cuda
