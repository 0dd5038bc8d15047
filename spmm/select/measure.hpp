#pragma once

#include <heddle/spmm/plan/executor.hpp>

namespace heddle::cuda {

/// Milliseconds of one product by `kernel`, which must be prepared: the median of `repeats`, timed
/// by events, after one warm-up. C is overwritten. Waits for the device.
template <class T>
double measure_product(CudaContext& context, SpmmExecutor<T>& executor, CudaKernel kernel,
                       const SpmmProduct<T>& product, int repeats);

/// The fastest of `kernel_candidates` on the product's A and B, prepared. C is left alone: the
/// results go to a block of its shape that is allocated meanwhile. Waits for the device.
template <class T>
KernelChoice choose_by_measuring(CudaContext& context, SpmmExecutor<T>& executor,
                                 const SpmmProduct<T>& product);

}  // namespace heddle::cuda
