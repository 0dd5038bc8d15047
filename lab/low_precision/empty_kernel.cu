#include <heddle/linalg/context/dependent_launch.cuh>

#include "low_precision/empty_kernel.hpp"

namespace heddle::lab {
namespace {

constexpr unsigned kThreads = 256;

__global__ void empty_kernel() {
  detail::cuda::allow_next_kernel();
  detail::cuda::wait_for_previous_kernel();
}

}  // namespace

void launch_empty_kernel(CudaContext& context, bool early) {
  const dim3 grid(static_cast<unsigned>(context.device().multiprocessors));
  const dim3 block(kThreads);
  if (early) {
    detail::cuda::launch_dependent(empty_kernel, {grid, block}, context.stream());
  } else {
    empty_kernel<<<grid, block, 0, context.stream()>>>();
    check(cudaGetLastError());
  }
}

}  // namespace heddle::lab
