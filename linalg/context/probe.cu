#include <heddle/linalg/context/probe.hpp>

namespace heddle {
namespace {

__global__ void probe_kernel() {}

}  // namespace

cudaError_t probe_kernel_image() noexcept {
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, probe_kernel);
  cudaGetLastError();
  return status;
}

}  // namespace heddle
