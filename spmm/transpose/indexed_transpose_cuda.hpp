#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/transpose/transposed_pattern.hpp>

namespace heddle::detail::cuda {

/// Products with Aᵀ by `row_split` on the pattern of Aᵀ. The values are read from A's own array.
template <class T>
class IndexedTranspose {
 public:
  /// Fetches A's pattern, transposes it on the host and keeps the result in device memory; waits
  /// for the device. A must outlive the products. Throws as `transposed_pattern` does.
  IndexedTranspose(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  /// Queues C = α Aᵀ B + β C; the product's A is not read. Allocates nothing.
  void run(CudaContext& context, const SpmmProduct<T>& product) const;

  /// Bytes that `run` moves at least, for N columns.
  double compulsory_bytes(Index N) const noexcept { return detail::indexed_bytes(At_, N); }

 private:
  detail::TransposedPattern<DeviceSpace> pattern_;
  CsrView<T, DeviceSpace> At_;  // values in A's order
  MatrixFeatures features_;
};

}  // namespace heddle::detail::cuda
