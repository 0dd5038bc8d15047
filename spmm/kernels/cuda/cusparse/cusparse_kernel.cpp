#include <cusparse.h>
#include <fmt/format.h>

#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/cuda/cusparse/cusparse_kernel.hpp>
#include <heddle/spmm/kernels/cuda/narrow_offsets.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <limits>
#include <source_location>
#include <type_traits>

namespace heddle::detail::cuda {
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

template <class T, int kAlgorithm>
class CusparsePlan : public KernelPlan<T, DeviceSpace> {
 public:
  CusparsePlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix);

  void run(CudaContext& context, const SpmmProduct<T>& product) override;

 private:
  static constexpr cusparseSpMMAlg_t kCusparseAlgorithm = kAlgorithms[kAlgorithm - 1];

  void prepare_shape(CudaContext& context, const SpmmProduct<T>& product);

  CsrView<T, DeviceSpace> A_;
  Buffer<std::int32_t, DeviceSpace> row_offsets_;
  Buffer<char, DeviceSpace> workspace_;
  std::unique_ptr<cusparseContext, Destroy> handle_;
  std::unique_ptr<cusparseSpMatDescr, Destroy> matrix_;
  std::unique_ptr<cusparseDnMatDescr, Destroy> B_;
  std::unique_ptr<cusparseDnMatDescr, Destroy> C_;
  Index N_ = -1;  ///< of the shape that is prepared, like the leading dimensions
  Index ldb_ = 0;
  Index ldc_ = 0;
};

template <class T, int kAlgorithm>
CusparsePlan<T, kAlgorithm>::CusparsePlan(CudaContext& context,
                                          const KernelMatrix<T, DeviceSpace>& matrix)
    : A_(matrix.A) {
  if (A_.nnz > std::numeric_limits<std::int32_t>::max() ||
      A_.rows > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(
        fmt::format("cuSPARSE is used with 32-bit offsets: {} rows with {} nonzeros do not fit",
                    A_.rows, A_.nnz));
  }
  row_offsets_ = Buffer<std::int32_t, DeviceSpace>(context, static_cast<std::size_t>(A_.rows + 1));
  launch_narrow_offsets(A_.row_offsets, A_.rows + 1, row_offsets_.data(), context.stream());

  cusparseHandle_t handle = nullptr;
  check(cusparseCreate(&handle));
  handle_.reset(handle);
  check(cusparseSetStream(handle, context.stream()));
  cusparseSpMatDescr_t descriptor = nullptr;
  // The descriptors take non-const pointers also for data that cuSPARSE only reads.
  check(cusparseCreateCsr(&descriptor, A_.rows, A_.cols, A_.nnz, row_offsets_.data(),
                          const_cast<std::int32_t*>(A_.columns), const_cast<T*>(A_.values),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                          kDataType<T>));
  matrix_.reset(descriptor);
}

template <class T, int kAlgorithm>
void CusparsePlan<T, kAlgorithm>::prepare_shape(CudaContext& context,
                                                const SpmmProduct<T>& product) {
  cusparseDnMatDescr_t descriptor = nullptr;
  check(cusparseCreateDnMat(&descriptor, A_.cols, product.N, product.ldb, const_cast<T*>(product.B),
                            kDataType<T>, CUSPARSE_ORDER_ROW));
  B_.reset(descriptor);
  check(cusparseCreateDnMat(&descriptor, A_.rows, product.N, product.ldc, product.C, kDataType<T>,
                            CUSPARSE_ORDER_ROW));
  C_.reset(descriptor);
  std::size_t bytes = 0;
  check(cusparseSpMM_bufferSize(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                CUSPARSE_OPERATION_NON_TRANSPOSE, &product.alpha, matrix_.get(),
                                B_.get(), &product.beta, C_.get(), kDataType<T>, kCusparseAlgorithm,
                                &bytes));
  workspace_ = Buffer<char, DeviceSpace>(context, bytes);
  check(cusparseSpMM_preprocess(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                CUSPARSE_OPERATION_NON_TRANSPOSE, &product.alpha, matrix_.get(),
                                B_.get(), &product.beta, C_.get(), kDataType<T>, kCusparseAlgorithm,
                                workspace_.data()));
  N_ = product.N;
  ldb_ = product.ldb;
  ldc_ = product.ldc;
}

template <class T, int kAlgorithm>
void CusparsePlan<T, kAlgorithm>::run(CudaContext& context, const SpmmProduct<T>& product) {
  if (N_ != product.N || ldb_ != product.ldb || ldc_ != product.ldc) {
    prepare_shape(context, product);
  }
  check(cusparseDnMatSetValues(B_.get(), const_cast<T*>(product.B)));
  check(cusparseDnMatSetValues(C_.get(), product.C));
  check(cusparseSpMM(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                     CUSPARSE_OPERATION_NON_TRANSPOSE, &product.alpha, matrix_.get(), B_.get(),
                     &product.beta, C_.get(), kDataType<T>, kCusparseAlgorithm, workspace_.data()));
}

template <int kAlgorithm>
struct PlansOf {
  template <class T>
  using Plan = CusparsePlan<T, kAlgorithm>;
};

}  // namespace

template <int kAlgorithm>
KernelMakers<DeviceSpace> CusparseKernel<kAlgorithm>::makers() {
  return makers_of<PlansOf<kAlgorithm>::template Plan, DeviceSpace>();
}

template KernelMakers<DeviceSpace> CusparseKernel<1>::makers();
template KernelMakers<DeviceSpace> CusparseKernel<2>::makers();
template KernelMakers<DeviceSpace> CusparseKernel<3>::makers();

}  // namespace heddle::detail::cuda
