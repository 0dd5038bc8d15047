#pragma once

#include <cuda_runtime_api.h>

namespace heddle {

/// Whether this build holds machine code for the current device:
/// `cudaErrorNoKernelImageForDevice` if not.
cudaError_t probe_kernel_image() noexcept;

}  // namespace heddle
