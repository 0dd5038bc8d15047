#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/linalg/sparse/accurate_rows.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>

namespace heddle {
namespace {

/// A thread per entry of R, neighbouring ones in a row.
template <class T>
__global__ void accurate_residual_kernel(detail::AccurateResidual<T, DeviceSpace> residual,
                                         Index entries, Index cols, const double* theta, T* R,
                                         Index ld) {
  for (Index k = detail::thread_index(); k < entries; k += detail::thread_count()) {
    const Index row = k / cols, column = k % cols;
    residual.template row<1>(row, column, 1, theta, R + row * ld + column);
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
  Buffer<double, DeviceSpace> numbers(context, theta.size());
  context.copy_to_device(numbers.data(), theta.data(), theta.size_bytes());
  const Index entries = X.rows() * X.cols();
  accurate_residual_kernel<T>
      <<<detail::grid_for(context, entries), kThreads, 0, context.stream()>>>(
          {of_A.rows(), of_B.rows()}, entries, X.cols(), numbers.data(), R.data(), R.ld());
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void accurate_residual(                                                                 \
      CudaContext&, DistributedCsrView<T, DeviceSpace>, const DistributedCsrView<T, DeviceSpace>*, \
      ConstBlockView<T, DeviceSpace>, std::span<const double>, BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
