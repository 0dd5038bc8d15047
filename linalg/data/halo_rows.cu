#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/halo_rows.hpp>

namespace heddle {
namespace {

template <class T>
__global__ void pack_kernel(Index count, int cols, RowLayout layout, const std::int32_t* rows,
                            const T* X, Index ld, T* packed) {
  const Index k = Index{blockIdx.x} * layout.rows_per_block() + layout.row();
  if (k >= count || !layout.has_row()) return;
  const T* const from = X + rows[k] * ld;
  for (int j = layout.column(); j < cols; j += layout.width()) packed[k * cols + j] = from[j];
}

}  // namespace

template <Scalar T>
void pack_rows(CudaContext& context, const Buffer<std::int32_t, DeviceSpace>& rows,
               ConstBlockView<T, DeviceSpace> X, T* packed) {
  if (rows.size() == 0 || X.cols() == 0) return;
  const RowLayout layout(X.cols());
  const auto count = static_cast<Index>(rows.size());
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(count, layout.rows_per_block()));
  pack_kernel<<<blocks, kThreads, 0, context.stream()>>>(count, static_cast<int>(X.cols()), layout,
                                                         rows.data(), X.data(), X.ld(), packed);
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                     \
  template void pack_rows(CudaContext&, const Buffer<std::int32_t, DeviceSpace>&, \
                          ConstBlockView<T, DeviceSpace>, T*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
