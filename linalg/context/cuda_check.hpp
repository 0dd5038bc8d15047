#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <source_location>

/// Every call of the CUDA runtime, cuBLAS and cuSOLVER is checked by `check`, which throws a
/// `DeviceError` with the error and the source location of the call.
namespace heddle {

void check(cudaError_t status, std::source_location where = std::source_location::current());
void check(cublasStatus_t status, std::source_location where = std::source_location::current());
void check(cusolverStatus_t status, std::source_location where = std::source_location::current());

/// Throws if the kernel launch just before it failed.
inline void check_launch(std::source_location where = std::source_location::current()) {
  check(cudaGetLastError(), where);
}

}  // namespace heddle
