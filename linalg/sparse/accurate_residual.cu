#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/linalg/sparse/accurate_rows.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>

namespace heddle {
namespace {

/// Values of some columns, as an argument of a kernel: a solve that ends allocates nothing.
struct ThetaOfColumns {
  static constexpr Index kMost = 64;
  double values[kMost];
};

/// A thread per entry of the `count` columns of R from `first` on, neighbouring ones in a row.
template <class T>
__global__ void accurate_residual_kernel(detail::AccurateResidual<T, DeviceSpace> residual,
                                         Index rows, Index first, Index count, ThetaOfColumns theta,
                                         T* R, Index ld) {
  for (Index k = detail::thread_index(); k < rows * count; k += detail::thread_count()) {
    const Index row = k / count, column = k % count;
    residual.template row<1>(row, first + column, 1, theta.values + column,
                             R + row * ld + first + column);
  }
}

}  // namespace

template <Scalar T>
void accurate_residual(CudaContext& context, DistributedCsrView<T, DeviceSpace> A,
                       const DistributedCsrView<T, DeviceSpace>* B,
                       ConstBlockView<T, DeviceSpace> X, std::span<const double> theta,
                       BlockView<T, DeviceSpace> R) {
  detail::check_accurate_residual<T, DeviceSpace>(A, B, X, theta, R);
  const detail::RowsWithHalo<T, CudaContext> of_A(context, &A, X), of_B(context, B, X);
  if (X.empty()) return;
  ThetaOfColumns numbers;
  for (Index first = 0; first < X.cols(); first += numbers.kMost) {
    const Index count = std::min(numbers.kMost, X.cols() - first);
    std::copy_n(theta.begin() + first, count, numbers.values);
    accurate_residual_kernel<T>
        <<<detail::grid_for(context, X.rows() * count), kThreads, 0, context.stream()>>>(
            {of_A.rows(), of_B.rows()}, X.rows(), first, count, numbers, R.data(), R.ld());
    check_launch();
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void accurate_residual(                                                                 \
      CudaContext&, DistributedCsrView<T, DeviceSpace>, const DistributedCsrView<T, DeviceSpace>*, \
      ConstBlockView<T, DeviceSpace>, std::span<const double>, BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
