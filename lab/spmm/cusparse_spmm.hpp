#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <memory>

namespace heddle::lab {

/// A block in device memory. Entry (i, j) is data[i·ld + j], by columns data[j·ld + i].
template <class T>
struct CusparseBlock {
  T* data;
  Index rows;
  Index cols;
  Index ld;
};

/// How the entries of B and C lie in memory.
enum class CusparseLayout { by_rows, by_columns };

/// C = A B by cuSPARSE's product for CSR, heddle's opponent. heddle's blocks lie by rows, but
/// cuSPARSE's best time in either layout is part of the comparison. Not deterministic: on one H200,
/// the bits of algorithms 2 and 3 changed from run to run.
template <class T>
class CusparseSpmm {
 public:
  /// Prepares the product: `algorithm` 1, 2 or 3 of CUSPARSE_SPMM_CSR_ALG*, with its preprocessing
  /// step. Keeps 32-bit row offsets. Throws `InvalidArgument` if A has 2³¹ rows or entries,
  /// `DeviceError` if cuSPARSE refuses.
  CusparseSpmm(CudaContext& context, const CsrView<T, DeviceSpace>& A, int algorithm,
               CusparseLayout layout, CusparseBlock<const T> B, CusparseBlock<T> C);
  ~CusparseSpmm();
  CusparseSpmm(const CusparseSpmm&) = delete;
  CusparseSpmm& operator=(const CusparseSpmm&) = delete;

  /// Queues C = A B on the context's stream.
  void multiply() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::lab
