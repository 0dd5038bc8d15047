#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <source_location>

/// The functions of cuBLAS and cuSOLVER that heddle calls. Their names are macros of the headers.
#define HEDDLE_CUBLAS_FUNCTIONS(DO) \
  DO(cublasCreate)                  \
  DO(cublasDestroy)                 \
  DO(cublasSetStream)               \
  DO(cublasGetStatusName)           \
  DO(cublasGetStatusString)         \
  DO(cublasDgemm_64)                \
  DO(cublasZgemm_64)                \
  DO(cublasDtrsm)
#define HEDDLE_CUSOLVER_FUNCTIONS(DO) \
  DO(cusolverDnCreate)                \
  DO(cusolverDnDestroy)               \
  DO(cusolverDnSetStream)             \
  DO(cusolverDnDpotrf_bufferSize)     \
  DO(cusolverDnDpotrf)                \
  DO(cusolverDnDsyevd_bufferSize)     \
  DO(cusolverDnDsyevd)                \
  DO(cusolverDnZheevd_bufferSize)     \
  DO(cusolverDnZheevd)

namespace heddle {

void check(cublasStatus_t status, std::source_location where = std::source_location::current());
void check(cusolverStatus_t status, std::source_location where = std::source_location::current());

namespace detail {

/// Pointers to these functions, under their names.
struct CudaLibraries {
#define HEDDLE_DECLARE(name) decltype(&::name) name;
  HEDDLE_CUBLAS_FUNCTIONS(HEDDLE_DECLARE)
  HEDDLE_CUSOLVER_FUNCTIONS(HEDDLE_DECLARE)
#undef HEDDLE_DECLARE
};

/// cuBLAS and cuSOLVER in the versions of the headers, loaded by the first call. heddle is not
/// linked with them: the loader of the system takes .18 s for them, also in a process that uses no
/// GPU. Throws `DeviceError` if a library cannot be loaded or lacks a function.
const CudaLibraries& cuda_libraries();

}  // namespace detail
}  // namespace heddle
