#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <memory>

namespace heddle::lab {

/// An n×N block in device memory, column-major: entry (i, j) is data[j·ld + i].
template <class T>
struct ColumnMajorBlock {
  T* data;
  Index rows;
  Index cols;
  Index ld;
};

/// C = A B by cuSPARSE on column-major blocks. heddle does not use this layout, but its best time
/// is part of the comparison.
template <class T>
class ColumnMajorCusparse {
 public:
  /// Prepares the product: `algorithm` 1, 2 or 3 of CUSPARSE_SPMM_CSR_ALG*, with its preprocessing
  /// step. Keeps 32-bit row offsets. Throws `InvalidArgument` if A has 2³¹ rows or entries,
  /// `DeviceError` if cuSPARSE refuses.
  ColumnMajorCusparse(CudaContext& context, const CsrView<T, DeviceSpace>& A, int algorithm,
                      ColumnMajorBlock<const T> B, ColumnMajorBlock<T> C);
  ~ColumnMajorCusparse();
  ColumnMajorCusparse(const ColumnMajorCusparse&) = delete;
  ColumnMajorCusparse& operator=(const ColumnMajorCusparse&) = delete;

  /// Queues C = A B on the context's stream.
  void multiply() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::lab
