#pragma once

#include <complex>
#include <heddle/linalg/context/cuda_context.hpp>

namespace heddle::detail::cuda {

/// *differ ← 1 if one of the `count` values, or a part of one, is not exact in single precision, as
/// NaN is not, else it stays as it is. Queued on the context's stream. Values and `differ` are in
/// device memory.
void find_doubles(CudaContext& context, const double* values, Index count, Index* differ);
inline void find_doubles(CudaContext&, const float*, Index, Index*) {}
inline void find_doubles(CudaContext& context, const std::complex<double>* values, Index count,
                         Index* differ) {
  find_doubles(context, reinterpret_cast<const double*>(values), 2 * count, differ);
}

}  // namespace heddle::detail::cuda
