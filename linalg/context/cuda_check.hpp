#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

/// Every call of the CUDA runtime is checked by `check`, which throws a `DeviceError` with the
/// error and the source location of the call. `cuda_libraries.hpp` has those of cuBLAS and
/// cuSOLVER.
namespace heddle {

void check(cudaError_t status, std::source_location where = std::source_location::current());

/// Throws if the kernel launch just before it failed.
inline void check_launch(std::source_location where = std::source_location::current()) {
  check(cudaGetLastError(), where);
}

}  // namespace heddle
