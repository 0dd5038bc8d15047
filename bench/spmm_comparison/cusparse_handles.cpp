#include "spmm_comparison/cusparse_handles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <limits>
#include <vector>

namespace heddle::bench {
namespace {

Buffer<std::int32_t, DeviceSpace> narrow_offsets(CudaContext& context, const std::int64_t* offsets,
                                                 Index rows) {
  std::vector<std::int64_t> wide(static_cast<std::size_t>(rows + 1));
  context.copy_to_host(wide.data(), offsets, wide.size() * sizeof(std::int64_t));
  if (std::max(wide.back(), rows) > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(
        fmt::format("cuSPARSE is used with 32-bit offsets: {} rows with {} nonzeros do not fit",
                    rows, wide.back()));
  }
  const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
  Buffer<std::int32_t, DeviceSpace> device(context, narrow.size());
  context.copy_to_device(device.data(), narrow.data(), narrow.size() * sizeof(std::int32_t));
  return device;
}

}  // namespace

void check(cusparseStatus_t status, std::source_location where) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("cuSPARSE: {} ({}), at {}:{}", cusparseGetErrorString(status),
                                cusparseGetErrorName(status), where.file_name(), where.line()));
}

template <class T>
CusparseMatrix<T>::CusparseMatrix(CudaContext& context, const CsrView<T, DeviceSpace>& A)
    : row_offsets_(narrow_offsets(context, A.row_offsets, A.rows)) {
  cusparseHandle_t handle = nullptr;
  check(cusparseCreate(&handle));
  handle_.reset(handle);
  check(cusparseSetStream(handle, context.stream()));
  cusparseSpMatDescr_t matrix = nullptr;
  // The descriptor takes pointers also to what cuSPARSE only reads as to what it may write.
  check(cusparseCreateCsr(&matrix, A.rows, A.cols, A.nnz, row_offsets_.data(),
                          const_cast<std::int32_t*>(A.columns), const_cast<T*>(A.values),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                          kDataType<T>));
  matrix_.reset(matrix);
}

template class CusparseMatrix<float>;
template class CusparseMatrix<double>;

}  // namespace heddle::bench
