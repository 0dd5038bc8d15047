#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <source_location>

/// Every call of the CUDA runtime, cuBLAS and cuSOLVER goes through `check`, which throws
/// `DeviceError` naming the failure and the place of the call.
namespace heddle {

void check(cudaError_t status, std::source_location where = std::source_location::current());
void check(cublasStatus_t status, std::source_location where = std::source_location::current());
void check(cusolverStatus_t status, std::source_location where = std::source_location::current());

/// Throws if the kernel launch just made was refused.
inline void check_launch(std::source_location where = std::source_location::current()) {
  check(cudaGetLastError(), where);
}

}  // namespace heddle
