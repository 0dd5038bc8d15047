#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <memory>

namespace heddle::lab {

/// C = A B by cuSPARSE's SpGEMM, algorithm 1, to compare with. Its memory comes from the context,
/// as heddle's does.
template <Scalar T>
class CusparseProduct {
 public:
  /// Copies the row offsets as 32-bit integers, which SpGEMM requires. Throws `InvalidArgument` if
  /// a factor has 2³¹ entries or more.
  CusparseProduct(CudaContext& context, CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B);
  ~CusparseProduct();
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;

  /// All steps from A and B to C, with the allocation of C, which is then freed. Waits for the
  /// device. Throws `DeviceError` with cuSPARSE's reason, `OutOfMemory`.
  void multiply();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::lab
