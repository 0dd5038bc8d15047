#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/kernel_plan.hpp>

namespace heddle::detail::cuda {

/// Queues C = β C + γ B' + δ X, Y = Y + η C, the product without α A B.
template <class T>
void launch_epilogue(CudaContext& context, const SpmmProduct<T>& product);

}  // namespace heddle::detail::cuda
