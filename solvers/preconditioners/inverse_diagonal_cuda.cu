#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/solvers/preconditioners/invert_normal.hpp>

namespace heddle::detail {
namespace {

/// The least normal number.
template <class T>
constexpr double kLeastNormal = sizeof(RealOf<T>) == 4 ? 0x1p-126 : 0x1p-1022;

template <class T>
__global__ void invert_kernel(Index n, const T* d, bool root, T* inverse, int* others) {
  for (Index i = thread_index(); i < n; i += thread_count()) {
    const double size = magnitude(d[i]);
    if (!(size >= kLeastNormal<T>) || isinf(size)) *others = 1;
    inverse[i] = T(static_cast<RealOf<T>>(root ? sqrt(1 / size) : 1 / size));
  }
}

}  // namespace

template <Scalar T>
bool invert_normal(CudaContext& context, const Buffer<T, DeviceSpace>& d, bool root,
                   Buffer<T, DeviceSpace>& inverse) {
  const auto n = static_cast<Index>(d.size());
  Buffer<int, DeviceSpace> others(context, 1);
  check(cudaMemsetAsync(others.data(), 0, sizeof(int), context.stream()));
  invert_kernel<<<grid_for(context, n), kThreads, 0, context.stream()>>>(
      n, d.data(), root, inverse.data(), others.data());
  check_launch();
  int found = 0;
  context.copy_to_host(&found, others.data(), sizeof found);
  return found == 0;
}

#define HEDDLE_INSTANTIATE(T)                                                    \
  template bool invert_normal(CudaContext&, const Buffer<T, DeviceSpace>&, bool, \
                              Buffer<T, DeviceSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
