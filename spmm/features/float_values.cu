#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/features/float_values.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr Index kMostBlocks = 4096;

/// All threads that write *differ write the same.
__global__ __launch_bounds__(kThreads) void find_doubles_kernel(const double* values, Index count,
                                                                Index* differ) {
  const Index step = static_cast<Index>(gridDim.x) * kThreads;
  bool own = false;
  for (Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) {
    const double value = __ldg(values + i);
    own = own || !(static_cast<double>(static_cast<float>(value)) == value);
  }
  if (own) *differ = 1;
}

}  // namespace

void find_doubles(CudaContext& context, const double* values, Index count, Index* differ) {
  if (count == 0) return;
  const auto blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  find_doubles_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, context.stream()>>>(
      values, count, differ);
  check_launch();
}

}  // namespace heddle::detail::cuda
