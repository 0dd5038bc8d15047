#include "spmm_comparison/column_major_cusparse.hpp"

#include <cusparse.h>
#include <fmt/format.h>

#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <limits>
#include <source_location>
#include <type_traits>
#include <vector>

namespace heddle::bench {
namespace {

void check(cusparseStatus_t status, std::source_location where = std::source_location::current()) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("cuSPARSE: {} ({}), at {}:{}", cusparseGetErrorString(status),
                                cusparseGetErrorName(status), where.file_name(), where.line()));
}

template <class T>
constexpr cudaDataType kDataType = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

constexpr std::array kAlgorithms = {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2,
                                    CUSPARSE_SPMM_CSR_ALG3};

struct Destroy {
  void operator()(cusparseContext* handle) const noexcept { cusparseDestroy(handle); }
  void operator()(cusparseSpMatDescr* matrix) const noexcept { cusparseDestroySpMat(matrix); }
  void operator()(cusparseDnMatDescr* block) const noexcept { cusparseDestroyDnMat(block); }
};

using Block = std::unique_ptr<cusparseDnMatDescr, Destroy>;

template <class T>
Block describe(const ColumnMajorBlock<T>& block) {
  using Value = std::remove_const_t<T>;
  cusparseDnMatDescr_t descriptor = nullptr;
  // The descriptor takes a pointer to what cuSPARSE only reads as one to what it may write.
  check(cusparseCreateDnMat(&descriptor, block.rows, block.cols, block.ld,
                            const_cast<Value*>(block.data), kDataType<Value>, CUSPARSE_ORDER_COL));
  return Block(descriptor);
}

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

template <class T>
struct ColumnMajorCusparse<T>::State {
  cusparseSpMMAlg_t algorithm;
  T alpha = 1;
  T beta = 0;
  Buffer<std::int32_t, DeviceSpace> row_offsets = {};
  Buffer<char, DeviceSpace> workspace = {};
  std::unique_ptr<cusparseContext, Destroy> handle = {};
  std::unique_ptr<cusparseSpMatDescr, Destroy> matrix = {};
  Block B = {};
  Block C = {};
};

template <class T>
ColumnMajorCusparse<T>::ColumnMajorCusparse(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                            int algorithm, ColumnMajorBlock<const T> B,
                                            ColumnMajorBlock<T> C)
    : state_(
          std::make_unique<State>(State{kAlgorithms.at(static_cast<std::size_t>(algorithm - 1))})) {
  State& state = *state_;
  state.row_offsets = narrow_offsets(context, A.row_offsets, A.rows);
  cusparseHandle_t handle = nullptr;
  check(cusparseCreate(&handle));
  state.handle.reset(handle);
  check(cusparseSetStream(handle, context.stream()));
  cusparseSpMatDescr_t matrix = nullptr;
  check(cusparseCreateCsr(&matrix, A.rows, A.cols, A.nnz, state.row_offsets.data(),
                          const_cast<std::int32_t*>(A.columns), const_cast<T*>(A.values),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                          kDataType<T>));
  state.matrix.reset(matrix);
  state.B = describe(B);
  state.C = describe(C);
  std::size_t bytes = 0;
  check(cusparseSpMM_bufferSize(
      handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &state.alpha,
      matrix, state.B.get(), &state.beta, state.C.get(), kDataType<T>, state.algorithm, &bytes));
  state.workspace = Buffer<char, DeviceSpace>(context, bytes);
  check(cusparseSpMM_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                CUSPARSE_OPERATION_NON_TRANSPOSE, &state.alpha, matrix,
                                state.B.get(), &state.beta, state.C.get(), kDataType<T>,
                                state.algorithm, state.workspace.data()));
}

template <class T>
ColumnMajorCusparse<T>::~ColumnMajorCusparse() = default;

template <class T>
void ColumnMajorCusparse<T>::multiply() const {
  check(cusparseSpMM(state_->handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                     CUSPARSE_OPERATION_NON_TRANSPOSE, &state_->alpha, state_->matrix.get(),
                     state_->B.get(), &state_->beta, state_->C.get(), kDataType<T>,
                     state_->algorithm, state_->workspace.data()));
}

template class ColumnMajorCusparse<float>;
template class ColumnMajorCusparse<double>;

}  // namespace heddle::bench
