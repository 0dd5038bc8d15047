#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spmm/plan/remote_rows.hpp>

namespace heddle::detail {
namespace {

template <class T>
__global__ void add_kernel(Index count, int cols, const std::int32_t* rows, const T* sums,
                           Index sums_ld, T* C, Index ldc, T eta, T* Y, Index ldy) {
  for (Index e = thread_index(); e < count; e += thread_count()) {
    const Index k = e / cols;
    const Index j = e % cols;
    const Index row = rows[k];
    const T sum = sums[k * sums_ld + j];
    C[row * ldc + j] += sum;
    if (eta != T{0}) Y[row * ldy + j] += eta * sum;
  }
}

}  // namespace

template <Scalar T>
void add_to_rows(CudaContext& context, const Buffer<std::int32_t, DeviceSpace>& rows,
                 ConstBlockView<T, DeviceSpace> sums, BlockView<T, DeviceSpace> C, T eta,
                 BlockView<T, DeviceSpace> Y) {
  const Index count = static_cast<Index>(rows.size()) * C.cols();
  if (count == 0) return;
  add_kernel<<<grid_for(context, count), kThreads, 0, context.stream()>>>(
      count, static_cast<int>(C.cols()), rows.data(), sums.data(), sums.ld(), C.data(), C.ld(), eta,
      Y.data(), Y.ld());
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                             \
  template void add_to_rows(CudaContext&, const Buffer<std::int32_t, DeviceSpace>&,       \
                            ConstBlockView<T, DeviceSpace>, BlockView<T, DeviceSpace>, T, \
                            BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
