#include "spgemm/cusparse_product.hpp"

#include <cusparse.h>
#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <limits>
#include <type_traits>
#include <vector>

#include "cuda_check.hpp"

namespace heddle::lab {
namespace {

template <class T>
inline constexpr cudaDataType kValueType = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

using Offsets = Buffer<std::int32_t, DeviceSpace>;

Offsets narrow(CudaContext& context, const std::int64_t* row_offsets, Index rows, Index nnz) {
  if (nnz > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(fmt::format(
        "cuSPARSE counts entries in 32 bits; a factor has {}, at most {} can be counted", nnz,
        std::numeric_limits<std::int32_t>::max()));
  }
  std::vector<std::int64_t> wide(static_cast<std::size_t>(rows) + 1);
  context.copy_to_host(wide.data(), row_offsets, wide.size() * sizeof(std::int64_t));
  const std::vector<std::int32_t> short_ones(wide.begin(), wide.end());
  Offsets offsets(context, short_ones.size());
  context.copy_to_device(offsets.data(), short_ones.data(),
                         short_ones.size() * sizeof(std::int32_t));
  context.synchronize();
  return offsets;
}

/// A matrix as cuSPARSE describes it.
class Description {
 public:
  template <class T>
  Description(Index rows, Index cols, Index nnz, std::int32_t* offsets, std::int32_t* columns,
              T* values) {
    check(cusparseCreateCsr(&matrix_, rows, cols, nnz, offsets, columns, values, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kValueType<T>));
  }
  ~Description() { cusparseDestroySpMat(matrix_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  cusparseSpMatDescr_t get() const { return matrix_; }

 private:
  cusparseSpMatDescr_t matrix_ = nullptr;
};

/// The state of one product, which cuSPARSE keeps between its steps.
class Steps {
 public:
  Steps() { check(cusparseSpGEMM_createDescr(&steps_)); }
  ~Steps() { cusparseSpGEMM_destroyDescr(steps_); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  cusparseSpGEMMDescr_t get() const { return steps_; }

 private:
  cusparseSpGEMMDescr_t steps_ = nullptr;
};

}  // namespace

template <Scalar T>
struct CusparseProduct<T>::State {
  CudaContext& context;
  CsrView<T, DeviceSpace> A;
  CsrView<T, DeviceSpace> B;
  Offsets offsets_A;
  Offsets offsets_B;
  cusparseHandle_t handle = nullptr;

  static Description describe(const CsrView<T, DeviceSpace>& M, Offsets& offsets) {
    return {M.rows,
            M.cols,
            M.nnz,
            offsets.data(),
            const_cast<std::int32_t*>(M.columns),
            const_cast<T*>(M.values)};
  }
};

template <Scalar T>
CusparseProduct<T>::CusparseProduct(CudaContext& context, CsrView<T, DeviceSpace> A,
                                    CsrView<T, DeviceSpace> B)
    : state_(new State{context, A, B, narrow(context, A.row_offsets, A.rows, A.nnz),
                       narrow(context, B.row_offsets, B.rows, B.nnz)}) {
  check(cusparseCreate(&state_->handle));
  check(cusparseSetStream(state_->handle, context.stream()));
}

template <Scalar T>
CusparseProduct<T>::~CusparseProduct() {
  cusparseDestroy(state_->handle);
}

template <Scalar T>
void CusparseProduct<T>::multiply() {
  CudaContext& context = state_->context;
  using Bytes = Buffer<char, DeviceSpace>;
  const Description A = State::describe(state_->A, state_->offsets_A);
  const Description B = State::describe(state_->B, state_->offsets_B);
  Offsets offsets(context, static_cast<std::size_t>(state_->A.rows) + 1);
  const Description C(state_->A.rows, state_->B.cols, 0, offsets.data(), nullptr,
                      static_cast<T*>(nullptr));
  const Steps steps;
  const T one{1};
  const T zero{0};
  constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const auto estimate = [&](std::size_t& bytes, void* memory) {
    check(cusparseSpGEMM_workEstimation(state_->handle, kPlain, kPlain, &one, A.get(), B.get(),
                                        &zero, C.get(), kValueType<T>, CUSPARSE_SPGEMM_ALG1,
                                        steps.get(), &bytes, memory));
  };
  const auto compute = [&](std::size_t& bytes, void* memory) {
    check(cusparseSpGEMM_compute(state_->handle, kPlain, kPlain, &one, A.get(), B.get(), &zero,
                                 C.get(), kValueType<T>, CUSPARSE_SPGEMM_ALG1, steps.get(), &bytes,
                                 memory));
  };
  std::size_t bytes = 0;
  estimate(bytes, nullptr);
  Bytes first(context, bytes);
  estimate(bytes, first.data());
  bytes = 0;
  compute(bytes, nullptr);
  Bytes second(context, bytes);
  compute(bytes, second.data());
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  check(cusparseSpMatGetSize(C.get(), &rows, &cols, &nnz));
  Offsets columns(context, static_cast<std::size_t>(nnz));
  Buffer<T, DeviceSpace> values(context, static_cast<std::size_t>(nnz));
  check(cusparseCsrSetPointers(C.get(), offsets.data(), columns.data(), values.data()));
  check(cusparseSpGEMM_copy(state_->handle, kPlain, kPlain, &one, A.get(), B.get(), &zero, C.get(),
                            kValueType<T>, CUSPARSE_SPGEMM_ALG1, steps.get()));
  context.synchronize();
}

template class CusparseProduct<float>;
template class CusparseProduct<double>;

}  // namespace heddle::lab
