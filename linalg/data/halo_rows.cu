#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/halo_rows.hpp>

namespace heddle {
namespace {

template <class T>
__global__ void pack_kernel(Index count, int cols, const std::int32_t* rows, const T* X, Index ld,
                            T* packed) {
  const Index step = Index{gridDim.x} * kThreads;
  for (Index e = Index{blockIdx.x} * kThreads + threadIdx.x; e < count; e += step) {
    packed[e] = X[rows[e / cols] * ld + e % cols];
  }
}

}  // namespace

template <Scalar T>
void pack_rows(CudaContext& context, const Buffer<std::int32_t, DeviceSpace>& rows,
               ConstBlockView<T, DeviceSpace> X, T* packed) {
  const Index count = static_cast<Index>(rows.size()) * X.cols();
  if (count == 0) return;
  constexpr Index kBlocksPerMultiprocessor = 16;
  const Index blocks = std::min(ceil_div<Index>(count, kThreads),
                                kBlocksPerMultiprocessor * context.device().multiprocessors);
  pack_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, context.stream()>>>(
      count, static_cast<int>(X.cols()), rows.data(), X.data(), X.ld(), packed);
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                     \
  template void pack_rows(CudaContext&, const Buffer<std::int32_t, DeviceSpace>&, \
                          ConstBlockView<T, DeviceSpace>, T*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
