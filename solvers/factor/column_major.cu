#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/solvers/factor/column_major.hpp>

namespace heddle::detail {
namespace {

/// Entry (i, j) of a block at data[i·row + j·column].
template <class V>
struct Strided {
  V* data;
  Index row, column;
};

/// Y = X, one thread per row.
template <class From, class To>
__global__ void copy_kernel(Index rows, int cols, Strided<const From> X, Strided<To> Y) {
  const Index step = Index{gridDim.x} * blockDim.x;
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += step) {
    for (int j = 0; j < cols; ++j) {
      Y.data[i * Y.row + j * Y.column] = static_cast<To>(X.data[i * X.row + j * X.column]);
    }
  }
}

template <class From, class To>
void copy_strided(CudaContext& context, Index rows, Index cols, Strided<const From> X,
                  Strided<To> Y) {
  if (rows == 0 || cols == 0) return;
  constexpr Index kBlocksPerMultiprocessor = 16;
  const Index most = kBlocksPerMultiprocessor * context.device().multiprocessors;
  const Index blocks = std::min(ceil_div<Index>(rows, kThreads), most);
  copy_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, context.stream()>>>(
      rows, static_cast<int>(cols), X, Y);
  check_launch();
  const auto entries = static_cast<double>(rows * cols);
  context.profile().count(entries * (sizeof(From) + sizeof(To)), 0);
}

}  // namespace

template <Scalar T>
void to_column_major(CudaContext& context, ConstBlockView<T, DeviceSpace> X, double* Y) {
  copy_strided<T, double>(context, X.rows(), X.cols(), {X.data(), X.ld(), 1}, {Y, 1, X.rows()});
}

template <Scalar T>
void from_column_major(CudaContext& context, const double* X, BlockView<T, DeviceSpace> Y) {
  copy_strided<double, T>(context, Y.rows(), Y.cols(), {X, 1, Y.rows()}, {Y.data(), Y.ld(), 1});
}

#define HEDDLE_INSTANTIATE(T)                                                           \
  template void to_column_major(CudaContext&, ConstBlockView<T, DeviceSpace>, double*); \
  template void from_column_major(CudaContext&, const double*, BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
