#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>

namespace heddle::detail::cuda {

/// Makes `buffer` hold at least `size` values. If it has to grow, its contents are lost.
template <class U>
void grow(CudaContext& context, Buffer<U, DeviceSpace>& buffer, Index size) {
  if (buffer.size() >= static_cast<std::size_t>(size)) return;
  buffer = Buffer<U, DeviceSpace>(context, static_cast<std::size_t>(size));
}

}  // namespace heddle::detail::cuda
