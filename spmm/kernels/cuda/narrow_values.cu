#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>

namespace heddle::detail::cuda {
namespace {

__global__ __launch_bounds__(kThreads) void narrow_values_kernel(const double* values, Index count,
                                                                 float* narrow) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) narrow[i] = static_cast<float>(values[i]);
}

}  // namespace

void launch_narrow_values(const double* values, Index count, float* narrow, cudaStream_t stream) {
  if (count == 0) return;
  narrow_values_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(values, count, narrow);
  check_launch();
}

}  // namespace heddle::detail::cuda
