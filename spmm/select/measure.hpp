#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/matrix_kernels.hpp>
#include <heddle/spmm/select/select.hpp>

namespace heddle::detail::cuda {

/// The fastest of `kernel_candidates` on the product's A and B, prepared: each is timed by events,
/// the median of five products after one that warms up. C is left alone: the results are written to
/// a block of its shape that is allocated for the time of the measurement. Waits for the device.
template <class T>
KernelChoice choose_by_measuring(CudaContext& context, MatrixKernels<T, DeviceSpace>& kernels,
                                 const SpmmProduct<T>& product);

}  // namespace heddle::detail::cuda
