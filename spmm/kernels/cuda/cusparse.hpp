#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <memory>

namespace heddle::cuda {

/// How the entries of B and C lie in memory.
enum class BlockLayout { row_major, column_major };

/// The vendor's CSR product, as a baseline and a fallback: `algorithm` 1, 2 or 3 of
/// CUSPARSE_SPMM_CSR_ALG*, with its preprocessing step.
///
/// Keeps 32-bit row offsets of its own (the faster of cuSPARSE's index types), the buffer and the
/// preprocessing for one shape of B and C at a time; another N or leading dimension prepares anew.
/// Not deterministic: on one H200, algorithms 2 and 3 were seen to change bits from run to run.
template <class T>
class CusparseProduct {
 public:
  /// Throws `InvalidArgument` if A has 2³¹ entries or more, `DeviceError` if cuSPARSE refuses.
  CusparseProduct(CudaContext& context, const CsrView<T, DeviceSpace>& A, int algorithm,
                  BlockLayout layout = BlockLayout::row_major);
  ~CusparseProduct();
  CusparseProduct(CusparseProduct&&) noexcept;
  CusparseProduct& operator=(CusparseProduct&&) noexcept;

  /// C = α A B + β C of the matrix given at the start; `product.A` is not looked at. For
  /// `column_major`, ld is the distance of columns.
  void multiply(const SpmmProduct<T>& product);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::cuda
