#pragma once

#include <cuda_runtime.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <utility>

/// Second passes that are set up while the first still runs (programmatic dependent launch, from
/// compute capability 9.0 on): for small matrices the gap between two kernels is a good part of the
/// product.
namespace heddle::detail::cuda {

/// To be called by the first pass, as early as it likes: the second may be set up.
__device__ inline void allow_next_pass() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// To be called by the second pass before it reads what the first wrote: waits for its end.
__device__ inline void wait_for_first_pass() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Launches the second pass `kernel`, which calls `wait_for_first_pass`, behind the kernel last
/// launched on `stream`, which calls `allow_next_pass`.
template <class... Parameters, class... Arguments>
void launch_second_pass(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                        Arguments&&... arguments) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

}  // namespace heddle::detail::cuda
