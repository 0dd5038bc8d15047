#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/plan/remote_rows.hpp>

namespace heddle::detail {
namespace {

template <class T>
__global__ void add_kernel(Index count, int cols, RowLayout layout, const std::int32_t* rows,
                           const T* sums, Index sums_ld, T* C, Index ldc, T eta, T* Y, Index ldy) {
  const Index k = Index{blockIdx.x} * layout.rows_per_block() + layout.row();
  if (k >= count || !layout.has_row()) return;
  const Index row = rows[k];
  for (int j = layout.column(); j < cols; j += layout.width()) {
    const T sum = sums[k * sums_ld + j];
    cuda::add(sum, C[row * ldc + j]);
    if (eta != T{0}) cuda::multiply_add(eta, sum, Y[row * ldy + j]);
  }
}

}  // namespace

template <Scalar T>
void add_to_rows(CudaContext& context, const Buffer<std::int32_t, DeviceSpace>& rows,
                 ConstBlockView<T, DeviceSpace> sums, BlockView<T, DeviceSpace> C, T eta,
                 BlockView<T, DeviceSpace> Y) {
  if (rows.size() == 0 || C.cols() == 0) return;
  const RowLayout layout(C.cols());
  const auto count = static_cast<Index>(rows.size());
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(count, layout.rows_per_block()));
  add_kernel<<<blocks, kThreads, 0, context.stream()>>>(count, static_cast<int>(C.cols()), layout,
                                                        rows.data(), sums.data(), sums.ld(),
                                                        C.data(), C.ld(), eta, Y.data(), Y.ld());
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                             \
  template void add_to_rows(CudaContext&, const Buffer<std::int32_t, DeviceSpace>&,       \
                            ConstBlockView<T, DeviceSpace>, BlockView<T, DeviceSpace>, T, \
                            BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
