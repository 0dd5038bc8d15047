#pragma once

#include <heddle/spmm/kernels/host/row_split/row_schedule.hpp>
#include <heddle/spmm/transpose/transposed_pattern.hpp>

namespace heddle::detail {

/// Products with Aᵀ by `row_split` on its pattern, the values read where A keeps them.
template <Scalar T>
class IndexedTranspose {
 public:
  /// Builds pattern and schedule; A must outlive them. Throws as `transposed_pattern` does.
  IndexedTranspose(HostContext& context, const CsrView<T, HostSpace>& A);

  /// C = α Aᵀ B + β C, α ≠ 0, as `row_split`: the same bits for every number of threads. Shapes are
  /// the caller's business.
  void multiply(HostContext& context, T alpha, const ConstBlockView<T, HostSpace>& B, T beta,
                const BlockView<T, HostSpace>& C);

  /// What `multiply` moves at least, with N columns.
  double compulsory_bytes(Index N) const noexcept { return indexed_bytes(At_, N); }

 private:
  TransposedPattern<HostSpace> pattern_;
  CsrView<T, HostSpace> At_;  // values in A's order
  RowSchedule schedule_;
  Buffer<T, HostSpace> partials_;
};

}  // namespace heddle::detail
