#include <cuda_runtime.h>

#include <heddle/linalg/base/error.hpp>
#include <string>

#include "low_precision/empty_kernel.hpp"

namespace heddle::lab {
namespace {

constexpr unsigned kThreads = 256;

/// Permits the launch of the next kernel, and waits for the one before (programmatic dependent
/// launch, from compute capability 9.0 on).
__global__ void empty_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

}  // namespace

void launch_empty_kernel(CudaContext& context, bool early) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(context.device().multiprocessors));
  config.blockDim = dim3(kThreads);
  config.stream = context.stream();
  if (early) {
    config.attrs = &overlap;
    config.numAttrs = 1;
  }
  const cudaError_t status = cudaLaunchKernelEx(&config, empty_kernel);
  if (status != cudaSuccess) throw DeviceError(std::string("CUDA: ") + cudaGetErrorString(status));
}

}  // namespace heddle::lab
