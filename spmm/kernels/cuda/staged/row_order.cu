#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/features/row_grid_cuda.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_order.hpp>

namespace heddle::detail::cuda {
namespace {

/// bricks[i] = the brick of row i, numbered by boxes, then by bricks in a box.
__global__ void bricks_of_rows_kernel(RowGrid grid, Index rows, Index* bricks,
                                      std::int32_t* identity) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows) return;
  const auto row = static_cast<std::int32_t>(i);
  bricks[i] = Index{grid.box_of(row)} * grid.most_bricks() + grid.brick_of(row);
  identity[i] = row;
}

/// begin[b] = the number of rows in boxes before b, by bisection of the ascending `bricks`.
__global__ void box_begin_kernel(const Index* bricks, Index rows, Index count, Index bricks_per_box,
                                 Index* begin) {
  const Index box = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (box > count) return;
  Index low = 0;
  Index high = rows;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (bricks[middle] < box * bricks_per_box) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  begin[box] = low;
}

}  // namespace

template <class T>
RowOrder order_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows,
                    Index brick_rows) {
  if (A.rows == 0) return {};
  const RowGrid grid = grid_of_rows(context, A, most_rows, brick_rows);
  const auto rows = static_cast<std::size_t>(A.rows);
  cudaStream_t stream = context.stream();
  Buffer<Index, DeviceSpace> bricks(context, rows);
  Buffer<Index, DeviceSpace> sorted_bricks(context, rows);
  Buffer<std::int32_t, DeviceSpace> identity(context, rows);
  RowOrder order;
  order.blocks = grid.count();
  order.rows = Buffer<std::int32_t, DeviceSpace>(context, rows);
  order.begin = Buffer<Index, DeviceSpace>(context, static_cast<std::size_t>(order.blocks + 1));
  bricks_of_rows_kernel<<<blocks_for(A.rows, kThreads), kThreads, 0, stream>>>(
      grid, A.rows, bricks.data(), identity.data());
  check_launch();
  const Index most_bricks = grid.most_bricks();
  const int bits = std::bit_width(static_cast<std::uint64_t>(order.blocks * most_bricks));
  std::size_t bytes = 0;
  const auto sort = [&](void* scratch) {
    check(cub::DeviceRadixSort::SortPairs(scratch, bytes, bricks.data(), sorted_bricks.data(),
                                          identity.data(), order.rows.data(), A.rows, 0, bits,
                                          stream));
  };
  sort(nullptr);
  const Buffer<char, DeviceSpace> scratch(context, bytes);
  sort(const_cast<char*>(scratch.data()));
  box_begin_kernel<<<blocks_for(order.blocks + 1, kThreads), kThreads, 0, stream>>>(
      sorted_bricks.data(), A.rows, order.blocks, most_bricks, order.begin.data());
  check_launch();
  return order;
}

#define HEDDLE_INSTANTIATE(T) \
  template RowOrder order_rows(CudaContext&, const CsrView<T, DeviceSpace>&, Index, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
