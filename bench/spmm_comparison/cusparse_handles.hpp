#pragma once

#include <cusparse.h>

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <memory>
#include <source_location>
#include <type_traits>

namespace heddle::bench {

/// Throws `DeviceError` with cuSPARSE's text unless the call succeeded.
void check(cusparseStatus_t status, std::source_location where = std::source_location::current());

template <class T>
constexpr cudaDataType kDataType = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

struct DestroyCusparse {
  void operator()(cusparseContext* handle) const noexcept { cusparseDestroy(handle); }
  void operator()(cusparseSpMatDescr* matrix) const noexcept { cusparseDestroySpMat(matrix); }
  void operator()(cusparseDnMatDescr* block) const noexcept { cusparseDestroyDnMat(block); }
  void operator()(cusparseDnVecDescr* vector) const noexcept { cusparseDestroyDnVec(vector); }
};

template <class Descriptor>
using CusparseOwner = std::unique_ptr<Descriptor, DestroyCusparse>;

/// A matrix as cuSPARSE takes it: with a copy of the row offsets in 32 bits, the faster of its
/// index types.
template <class T>
class CusparseMatrix {
 public:
  /// Throws `InvalidArgument` if A has 2³¹ rows or entries.
  CusparseMatrix(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  cusparseContext* handle() const noexcept { return handle_.get(); }  ///< bound to the stream
  cusparseSpMatDescr* get() const noexcept { return matrix_.get(); }

 private:
  Buffer<std::int32_t, DeviceSpace> row_offsets_;
  CusparseOwner<cusparseContext> handle_;
  CusparseOwner<cusparseSpMatDescr> matrix_;
};

}  // namespace heddle::bench
