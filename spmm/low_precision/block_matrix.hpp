#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/low_precision/block_product.hpp>
#include <vector>

namespace heddle::detail {

/// A in dense blocks of 16 rows, multiplied on tensor cores, in device memory. Its values must be
/// numbers of V.
template <class V>
class BlockMatrix final : public ShortMatrix<V> {
 public:
  /// A block's rows have 32 bytes.
  static constexpr BlockShape kShape{16, 32 / static_cast<Index>(sizeof(V))};

  /// In block CSR, which the host builds. Throws `InvalidArgument` as `check_order`, `OutOfMemory`.
  BlockMatrix(CudaContext& context, HostContext& host, const CsrView<float, HostSpace>& A,
              const BlockOrder& order);

  /// In column-compacted panels of rows in this order, built on the device. An empty order is the
  /// natural one. Throws `OutOfMemory`.
  BlockMatrix(CudaContext& context, const CsrView<V, DeviceSpace>& A,
              const std::vector<std::int32_t>& row_order);

  const std::int32_t* column_order() const noexcept override { return column_order_.data(); }
  double bytes() const noexcept override;
  void multiply(CudaContext& context, const ShortBlock<V>& B, const ScaledBlock& C) override {
    run(context, B, C);
  }
  void multiply(CudaContext& context, const ShortBlock<V>& B, const StepBlock<V>& C) override {
    run(context, B, C);
  }

 private:
  void set_schedules(CudaContext& context, const std::int64_t* row_offsets, Index block_rows);
  void set_shares(CudaContext& context, const std::int64_t* row_offsets, Index block_rows);
  StoredBlocks<V> stored() const noexcept;
  template <class Result>
  void run(CudaContext& context, const ShortBlock<V>& B, const Result& C);
  template <class Result>
  void multiply_units(CudaContext& context, const ShortBlock<V>& B, const Result& C);

  bool gathered_;
  Index blocks_ = 0;
  Index units_ = 0;
  Index split_rows_ = 0;
  std::int32_t slots_ = 0;
  Index shares_ = 0;              ///< thread blocks of a `ShareProduct`. 0: it cannot be used
  std::int32_t share_slots_ = 0;  ///< of one of them, the most
  Buffer<V, DeviceSpace> values_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<std::int32_t, DeviceSpace> row_order_;
  Buffer<std::int32_t, DeviceSpace> column_order_;
  Buffer<BlockUnit, DeviceSpace> schedule_;
  Buffer<SplitRow, DeviceSpace> split_;
  Buffer<RowShare, DeviceSpace> row_shares_;
  Buffer<WarpShare, DeviceSpace> warp_shares_;
  Buffer<RowSlots, DeviceSpace> row_slots_;
  Buffer<float, DeviceSpace> partial_;     ///< sums of pieces
  Buffer<unsigned, DeviceSpace> arrived_;  ///< counters, 0 between products
};

}  // namespace heddle::detail
