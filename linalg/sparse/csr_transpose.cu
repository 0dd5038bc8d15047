#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>

namespace heddle {
namespace {

using detail::DeviceIntegers;
using detail::entry_place;
using detail::grid_for;
using detail::lane_index;
using detail::thread_count;
using detail::thread_index;

/// The column and the row of each entry. One warp per row.
template <class T>
__global__ void list_entries_kernel(CsrView<T, DeviceSpace> A, std::int32_t* columns,
                                    std::int32_t* rows) {
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    for (std::int64_t e = A.row_offsets[i] + lane_index(); e < A.row_offsets[i + 1]; e += kWarp) {
      columns[e] = A.columns[e];
      rows[e] = static_cast<std::int32_t>(i);
    }
  }
}

/// Entry p of Aᵀ is A(rows[p], columns[p]), that of Aᴴ its conjugate.
template <bool kConjugate, class T>
__global__ void gather_kernel(CsrView<T, DeviceSpace> A, const std::int32_t* columns,
                              const std::int32_t* rows, std::int32_t* columns_of_transpose,
                              T* values) {
  for (Index p = thread_index(); p < A.nnz; p += thread_count()) {
    columns_of_transpose[p] = rows[p];
    const T value = A.values[entry_place(A, rows[p], columns[p])];
    values[p] = kConjugate ? conjugate(value) : value;
  }
}

template <bool kConjugate, class T>
CsrMatrix<T, DeviceSpace> transposed_of(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  check_csr_shape(A.cols, A.rows, A.nnz);
  DeviceIntegers columns(context, static_cast<std::size_t>(A.nnz));
  DeviceIntegers rows(context, static_cast<std::size_t>(A.nnz));
  list_entries_kernel<<<grid_for(context, A.rows * kWarp), kThreads, 0, context.stream()>>>(
      A, columns.data(), rows.data());
  check_launch();
  detail::sort_pairs(context, A.cols - 1, columns, rows);
  CsrMatrix<T, DeviceSpace> transposed(context, A.cols, A.rows, A.nnz);
  detail::group_begins(context, columns, A.cols, transposed.row_offsets());
  gather_kernel<kConjugate><<<grid_for(context, A.nnz), kThreads, 0, context.stream()>>>(
      A, columns.data(), rows.data(), transposed.columns(), transposed.values());
  check_launch();
  return transposed;
}

}  // namespace

template <Scalar T>
CsrMatrix<T, DeviceSpace> transpose(CudaContext& context, CsrView<T, DeviceSpace> A) {
  return transposed_of<false>(context, A);
}

template <Scalar T>
CsrMatrix<T, DeviceSpace> adjoint(CudaContext& context, CsrView<T, DeviceSpace> A) {
  return transposed_of<kComplex<T>>(context, A);
}

#define HEDDLE_INSTANTIATE(T)                                                          \
  template CsrMatrix<T, DeviceSpace> transpose(CudaContext&, CsrView<T, DeviceSpace>); \
  template CsrMatrix<T, DeviceSpace> adjoint(CudaContext&, CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
