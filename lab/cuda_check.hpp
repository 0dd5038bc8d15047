#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <source_location>

/// Checks of calls of CUDA's libraries, which throw a `DeviceError` with the error and its place.
namespace heddle::lab {

inline void check(cudaError_t status,
                  std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  throw DeviceError(fmt::format("CUDA: {}, at {}:{}", cudaGetErrorString(status), where.file_name(),
                                where.line()));
}

inline void check(cublasStatus_t status,
                  std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("cuBLAS: status {}, at {}:{}", static_cast<int>(status),
                                where.file_name(), where.line()));
}

inline void check(cusparseStatus_t status,
                  std::source_location where = std::source_location::current()) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("cuSPARSE: {} ({}), at {}:{}", cusparseGetErrorString(status),
                                cusparseGetErrorName(status), where.file_name(), where.line()));
}

}  // namespace heddle::lab
