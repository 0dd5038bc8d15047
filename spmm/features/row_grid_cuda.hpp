#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/row_grid.hpp>

namespace heddle::detail::cuda {

/// The grid of A's rows with boxes of at most `most_rows` and bricks of at most `brick_rows`, by
/// the offsets in a sample of rows. Waits for the device.
template <class T>
RowGrid grid_of_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows,
                     Index brick_rows = 1);

/// The entries of boxes, and the distinct columns of each of them.
struct BoxCount {
  Index entries = 0;
  Index distinct = 0;
};

/// *total += what is counted in a sample of boxes of A's grid, of which
/// `MatrixFeatures::reuse_grid` is the quotient. It is the same number as on the host unless boxes
/// have more than 4096 distinct columns. Their columns then count as often as they are stored.
/// Waits for the device to find the grid, then queues the count on the context's stream. `total` is
/// in device memory.
template <class T>
void count_boxes(CudaContext& context, const CsrView<T, DeviceSpace>& A, BoxCount* total);

}  // namespace heddle::detail::cuda
