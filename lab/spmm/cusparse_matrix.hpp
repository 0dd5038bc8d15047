#pragma once

#include <cusparse.h>
#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "cuda_check.hpp"

/// The matrix that the products by cuSPARSE share.
namespace heddle::lab {

template <class T>
constexpr cudaDataType kDataType = kComplex<T>                 ? CUDA_C_64F
                                   : std::is_same_v<T, double> ? CUDA_R_64F
                                                               : CUDA_R_32F;

struct DestroyCusparse {
  void operator()(cusparseContext* handle) const noexcept { cusparseDestroy(handle); }
  void operator()(cusparseSpMatDescr* matrix) const noexcept { cusparseDestroySpMat(matrix); }
  void operator()(cusparseDnMatDescr* block) const noexcept { cusparseDestroyDnMat(block); }
  void operator()(cusparseDnVecDescr* vector) const noexcept { cusparseDestroyDnVec(vector); }
};

/// A in the form that cuSPARSE takes, with row offsets of 32 bits, the faster of its types.
template <class T>
struct CusparseMatrix {
  Buffer<std::int32_t, DeviceSpace> row_offsets = {};
  std::unique_ptr<cusparseContext, DestroyCusparse> handle = {};
  std::unique_ptr<cusparseSpMatDescr, DestroyCusparse> matrix = {};

  /// Throws `InvalidArgument` if A has 2³¹ rows or entries.
  CusparseMatrix(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
    std::vector<std::int64_t> wide(static_cast<std::size_t>(A.rows + 1));
    context.copy_to_host(wide.data(), A.row_offsets, wide.size() * sizeof(std::int64_t));
    if (std::max(wide.back(), A.rows) > std::numeric_limits<std::int32_t>::max()) {
      throw InvalidArgument(
          fmt::format("cuSPARSE is used with 32-bit offsets: {} rows with {} nonzeros do not fit",
                      A.rows, wide.back()));
    }
    const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
    row_offsets = Buffer<std::int32_t, DeviceSpace>(context, narrow.size());
    context.copy_to_device(row_offsets.data(), narrow.data(), narrow.size() * sizeof(std::int32_t));
    cusparseHandle_t created = nullptr;
    check(cusparseCreate(&created));
    handle.reset(created);
    check(cusparseSetStream(created, context.stream()));
    cusparseSpMatDescr_t descriptor = nullptr;
    // The descriptors take pointers to what cuSPARSE only reads as to what it may write.
    check(cusparseCreateCsr(&descriptor, A.rows, A.cols, A.nnz, row_offsets.data(),
                            const_cast<std::int32_t*>(A.columns), const_cast<T*>(A.values),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            kDataType<T>));
    matrix.reset(descriptor);
  }
};

}  // namespace heddle::lab
