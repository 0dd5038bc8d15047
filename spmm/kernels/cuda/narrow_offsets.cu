#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/narrow_offsets.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void narrow_offsets_kernel(const std::int64_t* offsets, Index count,
                                      std::int32_t* narrow) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) narrow[i] = static_cast<std::int32_t>(offsets[i]);
}

}  // namespace

void launch_narrow_offsets(const std::int64_t* offsets, Index count, std::int32_t* narrow,
                           cudaStream_t stream) {
  narrow_offsets_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(offsets, count,
                                                                              narrow);
  check_launch();
}

}  // namespace heddle::detail::cuda
