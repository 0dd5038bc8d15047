#pragma once

#include <cuda_runtime.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <utility>

/// Launches a kernel while the one before it on the stream still runs (programmatic dependent
/// launch, available from compute capability 9.0 on). For small matrices, the gap between two
/// kernels is a large part of the time of a product.
///
/// ```text
/// kernel k     allow_next_kernel ─────────────────────────────── end
/// kernel k+1     launch, reads what no kernel in flight writes   │ wait_for_previous_kernel, all
/// else
/// ```
namespace heddle::detail::cuda {

/// Permits the launch of the next kernel once all thread blocks of this one have called it or have
/// ended. Without it, the next kernel is launched when the last thread block ends, and only the
/// latency of the launch is saved. Most kernels do without it: thread blocks that wait next to
/// running ones are placed unevenly on the multiprocessors (one H100: up to 1.3 times the time of
/// `row_split`).
__device__ inline void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Waits until all kernels before this one have ended. A kernel launched by `launch_dependent`
/// calls it before it reads what these write, and before it writes what these use. What is read
/// behind it must not be read as a constant (`__ldg`): the compiler may move such loads before it.
__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// The threads of a kernel, and the shared memory that its thread blocks ask for at the launch.
struct KernelShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};

/// Launches `kernel` behind the kernel launched last on `stream`. At least one thread of it must
/// call `wait_for_previous_kernel`. It begins early if the kernel before it calls
/// `allow_next_kernel`.
template <class... Parameters, class... Arguments>
void launch_dependent(void (*kernel)(Parameters...), const KernelShape& shape, cudaStream_t stream,
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
