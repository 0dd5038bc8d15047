#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::cuda {

/// C = β C, the product where A or α is zero; C is not read for β = 0.
template <class T>
void launch_scale(const SpmmProduct<T>& product, cudaStream_t stream);

}  // namespace heddle::cuda
