#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/features/float_values.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;
constexpr Index kMostBlocks = 4096;

/// *differ = 1 if a value is not a float. All threads that write it write the same.
__global__ __launch_bounds__(kThreads) void find_doubles_kernel(const double* values, Index count,
                                                                int* differ) {
  const Index step = static_cast<Index>(gridDim.x) * kThreads;
  bool own = false;
  for (Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) {
    const double value = __ldg(values + i);
    own = own || !(static_cast<double>(static_cast<float>(value)) == value);
  }
  if (own) atomicExch(differ, 1);
}

}  // namespace

bool are_floats(CudaContext& context, const double* values, Index count) {
  if (count == 0) return true;
  Buffer<int, DeviceSpace> differ(context, 1);
  check(cudaMemsetAsync(differ.data(), 0, sizeof(int), context.stream()));
  const auto blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  find_doubles_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, context.stream()>>>(
      values, count, differ.data());
  check_launch();
  int found = 0;
  context.copy_to_host(&found, differ.data(), sizeof found);
  return found == 0;
}

}  // namespace heddle::detail::cuda
