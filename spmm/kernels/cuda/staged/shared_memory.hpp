#pragma once

#include <heddle/linalg/context/cuda_context.hpp>

namespace heddle::detail::cuda {

/// Shared memory that the system takes from each thread block, in bytes.
inline constexpr std::size_t kReservedSharedBytes = 1024;

/// Shared memory of a multiprocessor, in bytes.
inline std::size_t shared_bytes(const CudaContext& context) {
  return context.device().shared_bytes_per_block + kReservedSharedBytes;
}

/// Shared memory of a thread block if a multiprocessor holds `blocks`, in bytes.
inline std::size_t shared_bytes_of(const CudaContext& context, int blocks) {
  return shared_bytes(context) / static_cast<std::size_t>(blocks) - kReservedSharedBytes;
}

}  // namespace heddle::detail::cuda
