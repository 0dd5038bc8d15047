#pragma once

#include <cuda_runtime_api.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <vector>

namespace heddle::detail {

/// A copy in device memory.
template <class T>
Buffer<T, DeviceSpace> copy_to_device(CudaContext& context, const std::vector<T>& values) {
  Buffer<T, DeviceSpace> placed(context, values.size());
  context.copy_to_device(placed.data(), values.data(), values.size() * sizeof(T));
  return placed;
}

/// Makes a buffer of at least `size` entries of this one, without its values.
template <class T>
void grow(CudaContext& context, Buffer<T, DeviceSpace>& buffer, Index size) {
  if (static_cast<Index>(buffer.size()) >= size) return;
  buffer = {context, static_cast<std::size_t>(size)};
}

/// The same for counters, which begin at 0.
inline void grow_counters(CudaContext& context, Buffer<unsigned, DeviceSpace>& counters,
                          Index size) {
  if (static_cast<Index>(counters.size()) >= size) return;
  grow(context, counters, size);
  check(cudaMemsetAsync(counters.data(), 0, counters.size() * sizeof(unsigned), context.stream()));
}

}  // namespace heddle::detail
