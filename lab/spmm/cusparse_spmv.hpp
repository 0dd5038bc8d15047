#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <memory>

namespace heddle::lab {

/// y = A x by cuSPARSE's product for one vector, the opponent of blocks of one column.
template <class T>
class CusparseSpmv {
 public:
  /// Prepares the product: `algorithm` 1 or 2 of CUSPARSE_SPMV_CSR_ALG*, with its preprocessing
  /// step. x and y are contiguous device memory. Keeps 32-bit row offsets. Throws `InvalidArgument`
  /// if A has 2³¹ rows or entries, `DeviceError` if cuSPARSE refuses.
  CusparseSpmv(CudaContext& context, const CsrView<T, DeviceSpace>& A, int algorithm, const T* x,
               T* y);
  ~CusparseSpmv();
  CusparseSpmv(const CusparseSpmv&) = delete;
  CusparseSpmv& operator=(const CusparseSpmv&) = delete;

  /// Queues y = A x on the context's stream.
  void multiply() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::lab
