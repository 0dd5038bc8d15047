#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/solvers/preconditioners/incomplete_cholesky/jacobi_split.hpp>

namespace heddle::detail {
namespace {

/// One warp per row. The offsets have one more number than there are rows.
template <class T>
__global__ void split_kernel(CsrView<T, DeviceSpace> L, std::int64_t* offsets,
                             std::int32_t* columns, T* values, T* inverse_diagonal) {
  for (Index i = thread_index() / kWarp; i <= L.rows; i += thread_count() / kWarp) {
    if (lane_index() == 0) offsets[i] = L.row_offsets[i] - i;
    if (i == L.rows) continue;
    const std::int64_t diagonal = L.row_offsets[i + 1] - 1;
    for (std::int64_t e = L.row_offsets[i] + lane_index(); e < diagonal; e += kWarp) {
      columns[e - i] = L.columns[e];
      values[e - i] = L.values[e];
    }
    if (lane_index() == 0) inverse_diagonal[i] = reciprocal(L.values[diagonal]);
  }
}

/// One warp per row.
template <class T>
__global__ void scale_rows_kernel(Index rows, const std::int64_t* offsets, const T* d, T* values) {
  for (Index i = thread_index() / kWarp; i < rows; i += thread_count() / kWarp) {
    for (std::int64_t e = offsets[i] + lane_index(); e < offsets[i + 1]; e += kWarp) {
      values[e] = product(values[e], d[i]);
    }
  }
}

}  // namespace

template <Scalar T>
JacobiSplit<T, DeviceSpace> jacobi_split(CudaContext& context, CsrView<T, DeviceSpace> L) {
  JacobiSplit<T, DeviceSpace> split{{context, static_cast<std::size_t>(L.rows)},
                                    {context, L.rows, L.cols, L.nnz - L.rows}};
  CsrMatrix<T, DeviceSpace>& N = split.N;
  split_kernel<<<grid_for(context, (L.rows + 1) * kWarp), kThreads, 0, context.stream()>>>(
      L, N.row_offsets(), N.columns(), N.values(), split.inverse_diagonal.data());
  check_launch();
  return split;
}

template <Scalar T>
CsrMatrix<T, DeviceSpace> scale_rows_of(CudaContext& context, const Buffer<T, DeviceSpace>& d,
                                        CsrMatrix<T, DeviceSpace> N) {
  scale_rows_kernel<<<grid_for(context, N.rows() * kWarp), kThreads, 0, context.stream()>>>(
      N.rows(), N.row_offsets(), d.data(), N.values());
  check_launch();
  return N;
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template JacobiSplit<T, DeviceSpace> jacobi_split(CudaContext&, CsrView<T, DeviceSpace>);     \
  template CsrMatrix<T, DeviceSpace> scale_rows_of(CudaContext&, const Buffer<T, DeviceSpace>&, \
                                                   CsrMatrix<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
