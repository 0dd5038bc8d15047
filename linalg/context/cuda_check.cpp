#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_libraries.hpp>

namespace heddle {
namespace {

[[noreturn]] void fail(const char* library, const char* name, const char* meaning,
                       const std::source_location& where) {
  throw DeviceError(fmt::format("{} failed with {} ({}) at {}:{}", library, name, meaning,
                                where.file_name(), where.line()));
}

}  // namespace

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  fail("CUDA", cudaGetErrorName(status), cudaGetErrorString(status), where);
}

void check(cublasStatus_t status, std::source_location where) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const detail::CudaLibraries& cuda = detail::cuda_libraries();
  fail("cuBLAS", cuda.cublasGetStatusName(status), cuda.cublasGetStatusString(status), where);
}

void check(cusolverStatus_t status, std::source_location where) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  fail("cuSOLVER", fmt::format("status {}", static_cast<int>(status)).c_str(),
       "see cusolverStatus_t", where);
}

}  // namespace heddle
