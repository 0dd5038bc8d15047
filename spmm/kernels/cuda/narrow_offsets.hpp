#pragma once

#include <cuda_runtime_api.h>

#include <heddle/linalg/context/context.hpp>

namespace heddle::detail::cuda {

/// narrow[i] = offsets[i], i < count, all below 2³¹. Moves 12·count bytes.
void launch_narrow_offsets(const std::int64_t* offsets, Index count, std::int32_t* narrow,
                           cudaStream_t stream);

}  // namespace heddle::detail::cuda
