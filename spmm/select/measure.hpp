#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/matrix_kernels.hpp>
#include <heddle/spmm/select/select.hpp>

namespace heddle::detail::cuda {

/// Times `kernel_candidates` on the product's A and B and returns the fastest, prepared. A time is
/// the median of five products after one warm-up, measured by events. C is not changed: the results
/// are written to a block of the same shape that is allocated during the measurement. Waits for the
/// device.
template <class T>
KernelChoice choose_by_measuring(CudaContext& context, MatrixKernels<T, DeviceSpace>& kernels,
                                 const SpmmProduct<T>& product);

}  // namespace heddle::detail::cuda
