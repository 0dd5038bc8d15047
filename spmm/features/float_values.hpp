#pragma once

#include <heddle/linalg/context/cuda_context.hpp>

namespace heddle::detail::cuda {

/// *differ ← 1 if one of the `count` values is not exact in single precision, as NaN is not, else
/// it stays as it is. Queued on the context's stream. Values and `differ` are in device memory.
void find_doubles(CudaContext& context, const double* values, Index count, Index* differ);
inline void find_doubles(CudaContext&, const float*, Index, Index*) {}

}  // namespace heddle::detail::cuda
