#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <vector>

namespace heddle::detail::cuda {

/// A copy of `host` in device memory. Throws `OutOfMemory`.
template <class U>
Buffer<U, DeviceSpace> upload(CudaContext& context, const std::vector<U>& host) {
  Buffer<U, DeviceSpace> device(context, host.size());
  if (!host.empty()) context.copy_to_device(device.data(), host.data(), host.size() * sizeof(U));
  return device;
}

}  // namespace heddle::detail::cuda
