#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// y_i ← (max_j |X(i, j)|)^power, or 0 for a row of zeros (X n×b with b ≥ 1, y n×1).
///
/// With X = A G for a random G, the maxima are proportional to the norms of the rows of A up to
/// chance. They give the scale of each row where only products with A are available.
template <Scalar T>
void row_maxima(HostContext& context, ConstBlockView<T, HostSpace> X, double power,
                BlockView<T, HostSpace> y);

class CudaContext;

/// The same for blocks in device memory. Queues its work on the context's stream.
template <Scalar T>
void row_maxima(CudaContext& context, ConstBlockView<T, DeviceSpace> X, double power,
                BlockView<T, DeviceSpace> y);

}  // namespace heddle
