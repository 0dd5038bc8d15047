#pragma once

#include <cuda_runtime.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <utility>

/// Launches a second pass while the first still runs (programmatic dependent launch, available from
/// compute capability 9.0 on). For small matrices, the gap between two kernels is a large part of
/// the time of a product.
namespace heddle::detail::cuda {

/// The first pass calls it, at any time from its start on, to permit the launch of the second pass.
__device__ inline void allow_next_pass() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// The second pass calls it before it reads results of the first, and waits for the first to end.
__device__ inline void wait_for_first_pass() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// The threads of a kernel, and the shared memory that its thread blocks ask for at the launch.
struct PassShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};

/// Launches the second pass `kernel` after the kernel launched last on `stream`. The second pass
/// must call `wait_for_first_pass`. It begins early if the first one calls `allow_next_pass`.
template <class... Parameters, class... Arguments>
void launch_second_pass(void (*kernel)(Parameters...), const PassShape& shape, cudaStream_t stream,
                        Arguments&&... arguments) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

}  // namespace heddle::detail::cuda
