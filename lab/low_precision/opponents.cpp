#include "low_precision/opponents.hpp"

#include <cublas_v2.h>
#include <cusparse.h>
#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>

#include "cuda_check.hpp"

namespace heddle::lab {
namespace {

template <class T>
std::shared_ptr<Buffer<T, DeviceSpace>> placed(CudaContext& context, const std::vector<T>& values) {
  auto buffer = std::make_shared<Buffer<T, DeviceSpace>>(context, values.size());
  context.copy_to_device(buffer->data(), values.data(), values.size() * sizeof(T));
  return buffer;
}

/// The library's handle, A, and the memory that A lies in.
struct SparseMatrix {
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t matrix = nullptr;
  std::vector<std::shared_ptr<void>> memory;

  explicit SparseMatrix(CudaContext& context) {
    check(cusparseCreate(&handle));
    check(cusparseSetStream(handle, context.stream()));
  }
  ~SparseMatrix() {
    if (matrix != nullptr) cusparseDestroySpMat(matrix);
    cusparseDestroy(handle);
  }
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;

  /// Keeps the memory and returns its address.
  template <class T>
  T* keep(std::shared_ptr<Buffer<T, DeviceSpace>> buffer) {
    memory.push_back(buffer);
    return buffer->data();
  }
};

/// C = A B by one algorithm, with descriptors and workspace of its own.
class SparseProduct {
 public:
  SparseProduct(CudaContext& context, std::shared_ptr<SparseMatrix> A, const Blocks& blocks,
                cusparseSpMMAlg_t algorithm, bool by_columns, bool half_result)
      : A_(std::move(A)), algorithm_(algorithm) {
    const cusparseOrder_t order = by_columns ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
    const auto ld = [&](Index rows) { return by_columns ? rows : blocks.N; };
    check(cusparseCreateDnMat(&B_, blocks.rows_of_B, blocks.N, ld(blocks.rows_of_B),
                              const_cast<Half*>(blocks.B), CUDA_R_16F, order));
    check(cusparseCreateDnMat(&C_, blocks.rows_of_C, blocks.N, ld(blocks.rows_of_C), blocks.C,
                              half_result ? CUDA_R_16F : CUDA_R_32F, order));
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(A_->handle, kPlain, kPlain, &one_, A_->matrix, B_, &zero_, C_,
                                  CUDA_R_32F, algorithm_, &bytes));
    workspace_ = Buffer<char, DeviceSpace>(context, std::max<std::size_t>(bytes, 1));
    check(cusparseSpMM_preprocess(A_->handle, kPlain, kPlain, &one_, A_->matrix, B_, &zero_, C_,
                                  CUDA_R_32F, algorithm_, workspace_.data()));
    multiply();
    context.synchronize();
  }
  ~SparseProduct() {
    if (B_ != nullptr) cusparseDestroyDnMat(B_);
    if (C_ != nullptr) cusparseDestroyDnMat(C_);
  }
  SparseProduct(const SparseProduct&) = delete;
  SparseProduct& operator=(const SparseProduct&) = delete;

  void multiply() {
    check(cusparseSpMM(A_->handle, kPlain, kPlain, &one_, A_->matrix, B_, &zero_, C_, CUDA_R_32F,
                       algorithm_, workspace_.data()));
  }

 private:
  static constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::shared_ptr<SparseMatrix> A_;
  cusparseSpMMAlg_t algorithm_;
  float one_ = 1;
  float zero_ = 0;
  cusparseDnMatDescr_t B_ = nullptr;
  cusparseDnMatDescr_t C_ = nullptr;
  Buffer<char, DeviceSpace> workspace_;
};

/// Every layout and type of C with one algorithm.
void add_variants(std::vector<Opponent>& all, CudaContext& context,
                  const std::shared_ptr<SparseMatrix>& A, const Blocks& blocks,
                  const std::string& name, cusparseSpMMAlg_t algorithm) {
  for (const bool by_columns : {false, true}) {
    for (const bool half_result : {false, true}) {
      Opponent opponent{fmt::format("{} {} {}", name, by_columns ? "by columns" : "by rows",
                                    half_result ? "C half" : "C single"),
                        by_columns,
                        half_result,
                        blocks.rows_of_B,
                        blocks.rows_of_C,
                        {},
                        {}};
      try {
        auto product =
            std::make_shared<SparseProduct>(context, A, blocks, algorithm, by_columns, half_result);
        opponent.multiply = [product] { product->multiply(); };
      } catch (const Error& error) {
        opponent.failure = error.what();
      }
      all.push_back(std::move(opponent));
    }
  }
}

/// Block columns and values per block row, padded to the longest.
struct EllBlocks {
  Index width = 0;  ///< blocks per block row
  std::vector<std::int32_t> columns;
  std::vector<Half> values;
};

EllBlocks ell_blocks(const BlockCsr<Half, HostSpace>& A, Index size) {
  EllBlocks ell;
  const std::int64_t* offsets = A.row_offsets.data();
  for (Index p = 0; p < A.block_rows(); ++p) {
    ell.width = std::max<Index>(ell.width, offsets[p + 1] - offsets[p]);
  }
  ell.columns.assign(static_cast<std::size_t>(A.block_rows() * ell.width), -1);
  ell.values.resize(static_cast<std::size_t>(A.block_rows() * ell.width * size * size));
  for (Index p = 0; p < A.block_rows(); ++p) {
    for (Index k = offsets[p]; k < offsets[p + 1]; ++k) {
      const Index place = k - offsets[p];
      ell.columns[static_cast<std::size_t>(p * ell.width + place)] = A.columns.data()[k];
      for (Index i = 0; i < size; ++i) {
        std::copy_n(A.values.data() + (k * size + i) * size, size,
                    ell.values.data() + ((p * size + i) * ell.width + place) * size);
      }
    }
  }
  return ell;
}

template <class T>
std::vector<T> listed(const Buffer<T, HostSpace>& values) {
  return {values.data(), values.data() + values.size()};
}

}  // namespace

std::vector<Opponent> csr_opponents(CudaContext& context, HostContext&,
                                    const CsrView<float, HostSpace>& A, const Blocks& blocks) {
  auto matrix = std::make_shared<SparseMatrix>(context);
  const std::vector<std::int32_t> offsets(A.row_offsets, A.row_offsets + A.rows + 1);
  std::vector<Half> values(static_cast<std::size_t>(A.nnz));
  std::transform(A.values, A.values + A.nnz, values.begin(),
                 [](float value) { return Half::round(static_cast<double>(value)); });
  const std::vector<std::int32_t> columns(A.columns, A.columns + A.nnz);
  Blocks exact = blocks;
  exact.rows_of_B = A.cols;
  exact.rows_of_C = A.rows;
  check(cusparseCreateCsr(
      &matrix->matrix, A.rows, A.cols, A.nnz, matrix->keep(placed(context, offsets)),
      matrix->keep(placed(context, columns)), matrix->keep(placed(context, values)),
      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_16F));
  std::vector<Opponent> all;
  add_variants(all, context, matrix, exact, "csr alg1", CUSPARSE_SPMM_CSR_ALG1);
  add_variants(all, context, matrix, exact, "csr alg2", CUSPARSE_SPMM_CSR_ALG2);
  add_variants(all, context, matrix, exact, "csr alg3", CUSPARSE_SPMM_CSR_ALG3);
  return all;
}

std::vector<Opponent> bsr_opponents(CudaContext& context, HostContext& host,
                                    const CsrView<float, HostSpace>& A, Index size,
                                    const BlockOrder& order, const Blocks& blocks) {
  const BlockCsr<Half, HostSpace> cut = make_block_csr<Half>(host, A, {size, size}, order);
  auto matrix = std::make_shared<SparseMatrix>(context);
  const Index block_columns = (A.cols + size - 1) / size;
  const std::vector<std::int32_t> offsets(cut.row_offsets.data(),
                                          cut.row_offsets.data() + cut.row_offsets.size());
  Blocks padded = blocks;
  padded.rows_of_B = block_columns * size;
  padded.rows_of_C = cut.block_rows() * size;
  check(cusparseCreateBsr(
      &matrix->matrix, cut.block_rows(), block_columns, cut.blocks(), size, size,
      matrix->keep(placed(context, offsets)), matrix->keep(placed(context, listed(cut.columns))),
      matrix->keep(placed(context, listed(cut.values))), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_16F, CUSPARSE_ORDER_ROW));
  std::vector<Opponent> all;
  add_variants(all, context, matrix, padded, fmt::format("bsr{}", size), CUSPARSE_SPMM_BSR_ALG1);
  return all;
}

std::vector<Opponent> ell_opponents(CudaContext& context, HostContext& host,
                                    const CsrView<float, HostSpace>& A, Index size,
                                    const BlockOrder& order, const Blocks& blocks) {
  const BlockCsr<Half, HostSpace> cut = make_block_csr<Half>(host, A, {size, size}, order);
  const EllBlocks ell = ell_blocks(cut, size);
  auto matrix = std::make_shared<SparseMatrix>(context);
  Blocks padded = blocks;
  padded.rows_of_B = (A.cols + size - 1) / size * size;
  padded.rows_of_C = cut.block_rows() * size;
  check(cusparseCreateBlockedEll(&matrix->matrix, padded.rows_of_C, padded.rows_of_B, size,
                                 ell.width * size, matrix->keep(placed(context, ell.columns)),
                                 matrix->keep(placed(context, ell.values)), CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_16F));
  std::vector<Opponent> all;
  add_variants(all, context, matrix, padded, fmt::format("ell{}", size),
               CUSPARSE_SPMM_BLOCKED_ELL_ALG1);
  return all;
}

std::vector<Opponent> dense_opponents(CudaContext& context, Index rows, Index cols,
                                      const Blocks& blocks) {
  auto A =
      std::make_shared<Buffer<Half, DeviceSpace>>(context, static_cast<std::size_t>(rows * cols));
  constexpr int kTwoOnes = 0x3c;  // 0x3c3c is about 1.06
  check(cudaMemsetAsync(A->data(), kTwoOnes, A->size() * sizeof(Half), context.stream()));
  const auto m = static_cast<int>(rows);
  const auto k = static_cast<int>(cols);
  const auto n = static_cast<int>(blocks.N);
  std::vector<Opponent> all;
  for (const bool half_result : {false, true}) {
    const cudaDataType result = half_result ? CUDA_R_16F : CUDA_R_32F;
    const auto add = [&](const char* name, bool by_columns, auto gemm) {
      all.push_back({fmt::format("dense {} {}", name, half_result ? "C half" : "C single"),
                     by_columns, half_result, cols, rows, gemm, ""});
    };
    const auto gemm = [&context, A, result](cublasOperation_t left, cublasOperation_t right, int p,
                                            int q, int r, const void* X, int ldx, const void* Y,
                                            int ldy, void* Z) {
      const float one = 1;
      const float zero = 0;
      check(cublasGemmEx(context.cublas(), left, right, p, q, r, &one, X, CUDA_R_16F, ldx, Y,
                         CUDA_R_16F, ldy, &zero, Z, result, p, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT));
    };
    const Half* B = blocks.B;
    void* C = blocks.C;
    // cuBLAS stores by columns. A by rows is Aᵀ to it, and C by rows is Cᵀ = BᵀAᵀ.
    add("by rows", false, [=] { gemm(CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, B, n, A->data(), k, C); });
    add("A by rows and B by columns", true,
        [=] { gemm(CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, A->data(), k, B, k, C); });
    add("by columns", true,
        [=] { gemm(CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, A->data(), m, B, k, C); });
  }
  return all;
}

}  // namespace heddle::lab
