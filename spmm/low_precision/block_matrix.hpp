#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/low_precision/block_product.hpp>
#include <vector>

namespace heddle::detail {

/// A in dense blocks of 16 rows, multiplied on tensor cores, in device memory. Its values must be
/// numbers of V.
template <class V>
class BlockMatrix {
 public:
  /// A block's rows have 32 bytes.
  static constexpr BlockShape kShape{16, 32 / static_cast<Index>(sizeof(V))};

  /// In column-compacted panels if `compacted`, whose order of columns is not used, else in block
  /// CSR. Throws `InvalidArgument` as `check_order`, `OutOfMemory`.
  BlockMatrix(CudaContext& context, HostContext& host, const CsrView<float, HostSpace>& A,
              const BlockOrder& order, bool compacted);

  /// The row of B that column k of the blocks meets; null: row k.
  const std::int32_t* column_order() const noexcept { return column_order_.data(); }

  /// C = A B, scaled back, queued on the context's stream. Allocates for more columns than before.
  void multiply(CudaContext& context, const ShortBlock<V>& B, const ScaledBlock& C);

 private:
  void set_values(CudaContext& context, HostContext& host, const Buffer<V, HostSpace>& values);
  void set_schedules(CudaContext& context, const std::int64_t* row_offsets, Index block_rows);
  void set_shares(CudaContext& context, const std::int64_t* row_offsets, Index block_rows);
  StoredBlocks<V> stored() const noexcept;
  void multiply_units(CudaContext& context, const ShortBlock<V>& B, const ScaledBlock& C);

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
