#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/row_grid.hpp>

namespace heddle::detail::cuda {

/// The grid of A's rows with boxes of at most `most_rows`, by the offsets in a sample of rows.
/// Waits for the device.
template <class T>
RowGrid grid_of_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows);

/// `MatrixFeatures::reuse_grid`, the same number as on the host unless blocks have more than 4096
/// distinct columns. Their columns then count as often as they are stored. Waits for the device.
template <class T>
double grid_reuse(CudaContext& context, const CsrView<T, DeviceSpace>& A);

}  // namespace heddle::detail::cuda
