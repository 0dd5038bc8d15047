#include <cub/device/device_radix_sort.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/features/row_grid_cuda.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void boxes_of_rows_kernel(RowGrid grid, Index rows, std::int32_t* boxes,
                                     std::int32_t* identity) {
  const Index row = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  boxes[row] = grid.box_of(static_cast<std::int32_t>(row));
  identity[row] = static_cast<std::int32_t>(row);
}

/// begin[b] = the number of rows in boxes before b, by bisection of the ascending `boxes`.
__global__ void box_begin_kernel(const std::int32_t* boxes, Index rows, Index count, Index* begin) {
  const Index box = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (box > count) return;
  Index low = 0;
  Index high = rows;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (boxes[middle] < box) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  begin[box] = low;
}

}  // namespace

template <class T>
RowOrder order_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows) {
  if (A.rows == 0) return {};
  const RowGrid grid = grid_of_rows(context, A, most_rows);
  const auto rows = static_cast<std::size_t>(A.rows);
  cudaStream_t stream = context.stream();
  Buffer<std::int32_t, DeviceSpace> boxes(context, rows);
  Buffer<std::int32_t, DeviceSpace> sorted_boxes(context, rows);
  Buffer<std::int32_t, DeviceSpace> identity(context, rows);
  RowOrder order;
  order.blocks = grid.count();
  order.rows = Buffer<std::int32_t, DeviceSpace>(context, rows);
  order.begin = Buffer<Index, DeviceSpace>(context, static_cast<std::size_t>(order.blocks + 1));
  boxes_of_rows_kernel<<<blocks_for(A.rows, kThreads), kThreads, 0, stream>>>(
      grid, A.rows, boxes.data(), identity.data());
  check_launch();
  std::size_t bytes = 0;
  const auto sort = [&](void* scratch) {
    check(cub::DeviceRadixSort::SortPairs(scratch, bytes, boxes.data(), sorted_boxes.data(),
                                          identity.data(), order.rows.data(), A.rows, 0, 32,
                                          stream));
  };
  sort(nullptr);
  const Buffer<char, DeviceSpace> scratch(context, bytes);
  sort(const_cast<char*>(scratch.data()));
  box_begin_kernel<<<blocks_for(order.blocks + 1, kThreads), kThreads, 0, stream>>>(
      sorted_boxes.data(), A.rows, order.blocks, order.begin.data());
  check_launch();
  return order;
}

#define HEDDLE_INSTANTIATE(T) \
  template RowOrder order_rows(CudaContext&, const CsrView<T, DeviceSpace>&, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
