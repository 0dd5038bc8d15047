#pragma once

#include <heddle/spmm/kernels/host/row_split/row_schedule.hpp>
#include <heddle/spmm/kernels/product.hpp>
#include <heddle/spmm/transpose/transposed_pattern.hpp>

namespace heddle::detail {

/// Products with Aᵀ by `row_split` on the pattern of Aᵀ. The values are read from A's own array.
template <Scalar T>
class IndexedTranspose {
 public:
  /// Builds pattern and schedule; A must outlive them. Throws as `transposed_pattern` does.
  IndexedTranspose(HostContext& context, const CsrView<T, HostSpace>& A);

  /// C = α Aᵀ B + β C with α ≠ 0, by `row_split`, with the same bits for every number of threads;
  /// the product's A is not read. The caller must check the shapes.
  void run(HostContext& context, const SpmmProduct<T, HostSpace>& product);

  /// Bytes that `run` moves at least, for N columns.
  double compulsory_bytes(Index N) const noexcept { return indexed_bytes(At_, N); }

 private:
  TransposedPattern<HostSpace> pattern_;
  CsrView<T, HostSpace> At_;  // values in A's order
  RowSchedule schedule_;
  Buffer<T, HostSpace> partials_;
};

}  // namespace heddle::detail
