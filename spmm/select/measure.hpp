#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/matrix_kernels.hpp>
#include <heddle/spmm/select/select.hpp>

namespace heddle::detail::cuda {

/// Times the `kernels` named in `names` on the product's A and B, and returns the fastest,
/// prepared. A time is the median of three products after one that warms up, measured by events.
/// The names are taken in their order, the likeliest first. A kernel whose first timed product
/// takes half as long again as the best is not run again, and no further kernel is tried once all
/// products took as long as 20 of the best kernel, where a product that warms up counts like the
/// one after it. C is not changed: the results are written to a
/// block of the same shape that is allocated during the measurement. Waits for the device.
template <class T>
KernelChoice choose_by_measuring(CudaContext& context, MatrixKernels<T, DeviceSpace>& kernels,
                                 const std::vector<std::string_view>& names,
                                 const SpmmProduct<T>& product);

}  // namespace heddle::detail::cuda
