#pragma once

#include <heddle/linalg/context/cuda_context.hpp>

namespace heddle::lab {

/// Bytes per second that a large copy in device memory reads and writes.
double measure_bandwidth(CudaContext& context);

}  // namespace heddle::lab
