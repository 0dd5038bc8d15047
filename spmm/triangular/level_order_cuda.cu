#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/triangular/level_order.hpp>
#include <heddle/spmm/triangular/row_levels.hpp>
#include <optional>
#include <utility>

namespace heddle::detail {
namespace {

/// *faults += the number of entries that a triangle with a complete diagonal would not have at
/// their places, and of rows without entries. One warp per row.
template <class T>
__global__ void count_faults_kernel(CsrView<T, DeviceSpace> A, bool lower, unsigned* faults) {
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    const std::int64_t begin = A.row_offsets[i];
    const std::int64_t end = A.row_offsets[i + 1];
    const std::int64_t diagonal = lower ? end - 1 : begin;
    if (begin == end && lane_index() == 0) atomicAdd(faults, 1u);
    for (std::int64_t e = begin + lane_index(); e < end; e += kWarp) {
      const Index j = A.columns[e];
      const bool fits = e == diagonal ? j == i : (lower ? j < i : j > i);
      if (!fits) atomicAdd(faults, 1u);
    }
  }
}

/// offsets[k] = the number of entries of row rows[k] off its diagonal; offsets[rows] = 0.
template <class T>
__global__ void lengths_kernel(CsrView<T, DeviceSpace> A, const std::int32_t* rows,
                               std::int64_t* offsets) {
  for (Index k = thread_index(); k <= A.rows; k += thread_count()) {
    offsets[k] = k < A.rows ? A.row_offsets[rows[k] + 1] - A.row_offsets[rows[k]] - 1 : 0;
  }
}

/// Stores the rows of A in the order of `rows`, as `LevelOrder` describes. One warp per row.
template <class T>
__global__ void reorder_kernel(CsrView<T, DeviceSpace> A, bool lower, const std::int32_t* rows,
                               const std::int64_t* offsets, std::int32_t* columns, T* values,
                               T* inverse_diagonal) {
  for (Index k = thread_index() / kWarp; k < A.rows; k += thread_count() / kWarp) {
    const Index i = rows[k];
    const std::int64_t begin = A.row_offsets[i];
    const std::int64_t last = A.row_offsets[i + 1] - 1;
    for (std::int64_t e = lane_index(); e < last - begin; e += kWarp) {
      const std::int64_t from = lower ? begin + e : last - e;
      columns[offsets[k] + e] = A.columns[from];
      values[offsets[k] + e] = A.values[from];
    }
    if (lane_index() == 0) inverse_diagonal[k] = reciprocal(A.values[lower ? last : begin]);
  }
}

/// Whether A is square, has its whole diagonal, and no entry on the other side.
template <class T>
bool is_triangle(CudaContext& context, const CsrView<T, DeviceSpace>& A, Triangle triangle) {
  if (A.rows != A.cols) return false;
  Buffer<unsigned, DeviceSpace> faults(context, 1);
  check(cudaMemsetAsync(faults.data(), 0, sizeof(unsigned), context.stream()));
  count_faults_kernel<<<grid_for(context, A.rows * kWarp), kThreads, 0, context.stream()>>>(
      A, triangle == Triangle::lower, faults.data());
  check_launch();
  unsigned found = 0;
  context.copy_to_host(&found, faults.data(), sizeof found);
  return found == 0;
}

}  // namespace

template <Scalar T>
LevelOrder<T, DeviceSpace> order_by_levels(CudaContext& context, CsrView<T, HostSpace> A,
                                           Triangle triangle) {
  HostContext host;
  LevelOrder<T> order = order_by_levels(host, A, triangle);
  return {place(context, std::move(order.entries)), place(context, std::move(order.rows)),
          place(context, std::move(order.inverse_diagonal)), std::move(order.level_begins)};
}

template <Scalar T>
LevelOrder<T, DeviceSpace> order_by_levels(CudaContext& context, CsrView<T, DeviceSpace> A,
                                           Triangle triangle) {
  std::optional<cuda::RowLevels> levels;
  if (is_triangle(context, A, triangle)) levels = cuda::row_levels(context, A, triangle);
  if (!levels) {  // the host orders long chains faster, and names the row that is no triangle's
    HostContext host;
    return order_by_levels(context, fetch(context, host, A).view(), triangle);
  }
  const bool lower = triangle == Triangle::lower;
  LevelOrder<T, DeviceSpace> order{
      CsrMatrix<T, DeviceSpace>(context, A.rows, A.cols, A.nnz - A.rows),
      std::move(levels->rows),
      {context, static_cast<std::size_t>(A.rows)},
      std::move(levels->level_begins)};
  CsrMatrix<T, DeviceSpace>& to = order.entries;
  lengths_kernel<<<grid_for(context, A.rows + 1), kThreads, 0, context.stream()>>>(
      A, order.rows.data(), to.row_offsets());
  check_launch();
  exclusive_sum(context, to.row_offsets(), A.rows + 1);
  reorder_kernel<<<grid_for(context, A.rows * kWarp), kThreads, 0, context.stream()>>>(
      A, lower, order.rows.data(), to.row_offsets(), to.columns(), to.values(),
      order.inverse_diagonal.data());
  check_launch();
  return order;
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template LevelOrder<T, DeviceSpace> order_by_levels(CudaContext&, CsrView<T, HostSpace>,   \
                                                      Triangle);                             \
  template LevelOrder<T, DeviceSpace> order_by_levels(CudaContext&, CsrView<T, DeviceSpace>, \
                                                      Triangle);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
