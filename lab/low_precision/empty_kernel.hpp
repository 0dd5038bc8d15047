#pragma once

#include <heddle/linalg/context/cuda_context.hpp>

namespace heddle::lab {

/// Queues a kernel that does nothing, with a thread block per multiprocessor: the least time that a
/// product can take. `early`: launched while the kernel before still runs, as heddle's products.
void launch_empty_kernel(CudaContext& context, bool early);

}  // namespace heddle::lab
