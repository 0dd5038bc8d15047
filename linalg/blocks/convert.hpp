#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// Copies of blocks in another precision. Columns are scaled, so that a column of any norm fits
/// into the range of single precision.
namespace heddle {

/// scales(j, 0) = 2^(-k) and scales(j, 1) = 2^k (scales b×2, X n×b), with k such that the norm of
/// 2^(-k) x_j is at least 1 and less than 2. Multiplications by both are exact. k is limited to
/// ±1022, so that both are normal numbers, and 0 for a column of zeros or with a NaN.
template <Scalar T>
void norm_scales(HostContext& context, ConstBlockView<T, HostSpace> X,
                 SmallView<double, HostSpace> scales);

/// The same from norms(j, 0) = ‖x_j‖ (b×1).
void norm_scales(HostContext& context, ConstSmallView<double, HostSpace> norms,
                 SmallView<double, HostSpace> scales);

/// y_j = factors(j, 0)·x_j, multiplied in double and rounded to U (X and Y n×b, factors b×1).
/// Values beyond the range of U become infinite.
template <Scalar U, Scalar T>
void convert(HostContext& context, ConstBlockView<T, HostSpace> X,
             ConstSmallView<double, HostSpace> factors, BlockView<U, HostSpace> Y);

/// Y(i, j) = rows(i, 0)·factors(j, 0)·X(i, j), multiplied in double and rounded to U (X and Y n×b,
/// rows n×1, factors b×1): the product with a diagonal matrix and the conversion in one pass.
template <Scalar U, Scalar T, Scalar V>
void convert(HostContext& context, ConstBlockView<V, HostSpace> rows,
             ConstBlockView<T, HostSpace> X, ConstSmallView<double, HostSpace> factors,
             BlockView<U, HostSpace> Y);

class CudaContext;

// The same for blocks in device memory. A call queues its work on the context's stream.

template <Scalar T>
void norm_scales(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 SmallView<double, DeviceSpace> scales);

void norm_scales(CudaContext& context, ConstSmallView<double, DeviceSpace> norms,
                 SmallView<double, DeviceSpace> scales);

template <Scalar U, Scalar T>
void convert(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
             ConstSmallView<double, DeviceSpace> factors, BlockView<U, DeviceSpace> Y);

template <Scalar U, Scalar T, Scalar V>
void convert(CudaContext& context, ConstBlockView<V, DeviceSpace> rows,
             ConstBlockView<T, DeviceSpace> X, ConstSmallView<double, DeviceSpace> factors,
             BlockView<U, DeviceSpace> Y);

}  // namespace heddle
