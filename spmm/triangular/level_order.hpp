#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/triangular.hpp>
#include <vector>

namespace heddle::detail {

/// A triangular matrix with its rows in the order of their levels, which is the order in which
/// substitution reads them.
template <Scalar T, class Space = HostSpace>
struct LevelOrder {
  /// Row k holds the off-diagonal entries of row rows[k] of the matrix. Entries whose rows are
  /// solved first come first: columns ascend in a lower triangle and descend in an upper one.
  CsrMatrix<T, Space> entries;
  Buffer<std::int32_t, Space> rows;   ///< those of a level ascend
  Buffer<T, Space> inverse_diagonal;  ///< 1/A(rows[k], rows[k])
  std::vector<Index> level_begins;    ///< into `rows`; one more than there are levels

  Index levels() const noexcept { return static_cast<Index>(level_begins.size()) - 1; }
};

/// The level order of A. Throws `InvalidArgument` if A is not a `triangle` with a complete
/// diagonal.
template <Scalar T>
LevelOrder<T> order_by_levels(HostContext& context, CsrView<T, HostSpace> A, Triangle triangle);

/// The same in device memory: ordered on the host and copied for an A in host memory, ordered where
/// it is for an A in device memory. The host orders that one, too, if its levels are so many that
/// the device would take longer, see `cuda::most_levels`.
template <Scalar T>
LevelOrder<T, DeviceSpace> order_by_levels(CudaContext& context, CsrView<T, HostSpace> A,
                                           Triangle triangle);
template <Scalar T>
LevelOrder<T, DeviceSpace> order_by_levels(CudaContext& context, CsrView<T, DeviceSpace> A,
                                           Triangle triangle);

/// Throws `InvalidArgument` unless Y = A⁻¹X fits for A of `order` rows.
void check_triangular_shapes(Index order, Shape X, Shape Y);

/// Bytes that Y = A⁻¹X moves at least, and its flops, for `nnz` entries off the diagonal.
template <Scalar T>
double substitution_bytes(Index nnz, Index rows, Index N) noexcept {
  const auto n = static_cast<double>(rows);
  return static_cast<double>(nnz) * (sizeof(T) + 4) + n * (8 + 4 + sizeof(T)) +
         2 * n * static_cast<double>(N) * sizeof(T);
}
inline double substitution_flops(Index nnz, Index rows, Index N) noexcept {
  return (2 * static_cast<double>(nnz) + static_cast<double>(rows)) * static_cast<double>(N);
}

}  // namespace heddle::detail
