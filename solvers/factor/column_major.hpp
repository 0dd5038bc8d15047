#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {
class CudaContext;
}

/// Copies between a row-major block and its column-major form in double, of leading dimension n,
/// for libraries that take blocks by columns. Device memory. A call queues its work.
namespace heddle::detail {

/// Y(i, j) = X(i, j), at Y[i + j·n] (X n×b).
template <Scalar T>
void to_column_major(CudaContext& context, ConstBlockView<T, DeviceSpace> X, double* Y);

/// Y(i, j) = X(i, j), at X[i + j·n], rounded to T (Y n×b).
template <Scalar T>
void from_column_major(CudaContext& context, const double* X, BlockView<T, DeviceSpace> Y);

}  // namespace heddle::detail
