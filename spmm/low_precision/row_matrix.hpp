#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/low_precision/rounded_product.hpp>

namespace heddle::detail {

/// The largest R ≤ 4 for which each R rows from 0 on have entries in the same columns, as the
/// unknowns of a node have. A is in device memory.
int rows_alike(CudaContext& context, Index rows, const std::int64_t* row_offsets,
               const std::int32_t* columns);

/// A in compressed rows, multiplied without tensor cores, in device memory. A thread computes 16
/// bytes of a row of C. Where all rows come in groups of up to four that have entries in the same
/// columns, it computes those of a group. Rows of more than `kLongRow` entries are summed by a
/// thread block each.
template <class V>
class RowMatrix final : public ShortMatrix<V> {
 public:
  static constexpr Index kLongRow = 512;

  /// Copies A. Throws `OutOfMemory`.
  RowMatrix(CudaContext& context, const CsrView<V, DeviceSpace>& A);

  double bytes() const noexcept override;
  void multiply(CudaContext& context, const ShortBlock<V>& B, const ScaledBlock& C) override {
    run(context, B, C);
  }
  void multiply(CudaContext& context, const ShortBlock<V>& B, const StepBlock<V>& C) override {
    run(context, B, C);
  }

 private:
  template <class Result>
  void run(CudaContext& context, const ShortBlock<V>& B, const Result& C) const;

  int rows_at_once_ = 1;  // rows of a group
  Buffer<std::int64_t, DeviceSpace> row_offsets_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<V, DeviceSpace> values_;  // those of the rows of a group interleaved
  Buffer<std::int32_t, DeviceSpace> long_rows_;
};

}  // namespace heddle::detail
