#include <cusparse.h>
#include <fmt/format.h>

#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/kernels/cuda/cusparse.hpp>
#include <heddle/spmm/kernels/cuda/narrow_offsets.hpp>
#include <limits>
#include <source_location>
#include <type_traits>

namespace heddle::cuda {
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

}  // namespace

template <class T>
struct CusparseProduct<T>::State {
  CudaContext* context;
  CsrView<T, DeviceSpace> A;
  cusparseSpMMAlg_t algorithm;
  cusparseOrder_t order;
  Buffer<std::int32_t, DeviceSpace> row_offsets;
  Buffer<char, DeviceSpace> workspace;
  std::unique_ptr<cusparseContext, Destroy> handle;
  std::unique_ptr<cusparseSpMatDescr, Destroy> matrix;
  std::unique_ptr<cusparseDnMatDescr, Destroy> B;
  std::unique_ptr<cusparseDnMatDescr, Destroy> C;
  Index N = -1;
  Index ldb = 0;
  Index ldc = 0;

  void prepare(const SpmmProduct<T>& product) {
    cusparseDnMatDescr_t descriptor = nullptr;
    // The descriptors take pointers to what cuSPARSE only reads as pointers to what it may write.
    check(cusparseCreateDnMat(&descriptor, A.cols, product.N, product.ldb,
                              const_cast<T*>(product.B), kDataType<T>, order));
    B.reset(descriptor);
    check(cusparseCreateDnMat(&descriptor, A.rows, product.N, product.ldc, product.C, kDataType<T>,
                              order));
    C.reset(descriptor);
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  CUSPARSE_OPERATION_NON_TRANSPOSE, &product.alpha, matrix.get(),
                                  B.get(), &product.beta, C.get(), kDataType<T>, algorithm,
                                  &bytes));
    workspace = Buffer<char, DeviceSpace>(*context, bytes);
    check(cusparseSpMM_preprocess(handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  CUSPARSE_OPERATION_NON_TRANSPOSE, &product.alpha, matrix.get(),
                                  B.get(), &product.beta, C.get(), kDataType<T>, algorithm,
                                  workspace.data()));
    N = product.N;
    ldb = product.ldb;
    ldc = product.ldc;
  }
};

template <class T>
CusparseProduct<T>::CusparseProduct(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                    int algorithm, BlockLayout layout)
    : state_(std::make_unique<State>()) {
  if (A.nnz > std::numeric_limits<std::int32_t>::max() ||
      A.rows > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(
        fmt::format("cuSPARSE is used with 32-bit offsets: {} rows with {} nonzeros do not fit",
                    A.rows, A.nnz));
  }
  State& state = *state_;
  state.context = &context;
  state.A = A;
  state.algorithm = kAlgorithms.at(static_cast<std::size_t>(algorithm - 1));
  state.order = layout == BlockLayout::row_major ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  state.row_offsets =
      Buffer<std::int32_t, DeviceSpace>(context, static_cast<std::size_t>(A.rows + 1));
  launch_narrow_offsets(A.row_offsets, A.rows + 1, state.row_offsets.data(), context.stream());

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
}

template <class T>
CusparseProduct<T>::~CusparseProduct() = default;
template <class T>
CusparseProduct<T>::CusparseProduct(CusparseProduct&&) noexcept = default;
template <class T>
CusparseProduct<T>& CusparseProduct<T>::operator=(CusparseProduct&&) noexcept = default;

template <class T>
void CusparseProduct<T>::multiply(const SpmmProduct<T>& product) {
  State& state = *state_;
  if (state.N != product.N || state.ldb != product.ldb || state.ldc != product.ldc) {
    state.prepare(product);
  }
  check(cusparseDnMatSetValues(state.B.get(), const_cast<T*>(product.B)));
  check(cusparseDnMatSetValues(state.C.get(), product.C));
  check(cusparseSpMM(state.handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                     CUSPARSE_OPERATION_NON_TRANSPOSE, &product.alpha, state.matrix.get(),
                     state.B.get(), &product.beta, state.C.get(), kDataType<T>, state.algorithm,
                     state.workspace.data()));
}

template class CusparseProduct<float>;
template class CusparseProduct<double>;

}  // namespace heddle::cuda
