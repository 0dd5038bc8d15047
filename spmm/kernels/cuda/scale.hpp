#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/kernel_plan.hpp>

namespace heddle::detail::cuda {

/// C = β C, the product if A or α is zero. C is not read if β = 0.
template <class T>
void launch_scale(CudaContext& context, const SpmmProduct<T>& product);

/// The product by `kernel`, or by `launch_scale` if A or α is zero.
template <class T>
void run_or_scale(CudaContext& context, KernelPlan<T, DeviceSpace>& kernel,
                  const SpmmProduct<T>& product) {
  if (product.A.nnz == 0 || product.alpha == T{0}) return launch_scale(context, product);
  kernel.run(context, product);
}

}  // namespace heddle::detail::cuda
