#include <algorithm>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {
namespace {

/// One thread per row. X has few columns, and the function is called once per search.
template <class T>
__global__ void row_maxima_kernel(Index rows, int cols, const T* X, Index ld, double power, T* y,
                                  Index y_ld) {
  const Index step = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += step) {
    double largest = 0;
    for (int j = 0; j < cols; ++j) {
      const double size = magnitude(X[i * ld + j]);
      if (size > largest) largest = size;
    }
    y[i * y_ld] = T(static_cast<RealOf<T>>(largest > 0 ? pow(largest, power) : 0));
  }
}

}  // namespace

template <Scalar T>
void row_maxima(CudaContext& context, ConstBlockView<T, DeviceSpace> X, double power,
                BlockView<T, DeviceSpace> y) {
  require_same_shape("row_maxima", ConstBlockView<T, DeviceSpace>(X.data(), X.rows(), 1, X.ld()),
                     ConstBlockView<T, DeviceSpace>(y));
  if (X.empty()) return;
  constexpr Index kBlocksPerMultiprocessor = 16;
  const Index most = kBlocksPerMultiprocessor * context.device().multiprocessors;
  const Index blocks = std::min(ceil_div<Index>(X.rows(), kThreads), most);
  row_maxima_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, context.stream()>>>(
      X.rows(), static_cast<int>(X.cols()), X.data(), X.ld(), power, y.data(), y.ld());
  check_launch();
  context.profile().count(bytes(X) + bytes<T, DeviceSpace>(y), entries(X));
}

#define HEDDLE_INSTANTIATE(T)                                                    \
  template void row_maxima(CudaContext&, ConstBlockView<T, DeviceSpace>, double, \
                           BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
