#pragma once

#include <cuda_runtime_api.h>

namespace heddle {

/// Checks that this build contains machine code for the current device. Returns
/// `cudaErrorNoKernelImageForDevice` if it does not.
cudaError_t probe_kernel_image() noexcept;

}  // namespace heddle
