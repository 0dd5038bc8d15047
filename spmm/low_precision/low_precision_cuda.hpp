#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>

namespace heddle {
namespace detail {
template <class V>
struct ShortBlock;
template <class V, class T>
struct Rounding;

/// A in compressed rows, its values in V, in device memory.
template <class V>
struct ShortRows {
  Buffer<std::int64_t, DeviceSpace> offsets;
  Buffer<std::int32_t, DeviceSpace> columns;
  Buffer<V, DeviceSpace> values;
  Buffer<std::int32_t, DeviceSpace> long_rows;
  int lane_exponent = -1;  ///< 2^this lanes share a row. −1: A is kept in blocks
};
}  // namespace detail

/// A piece of a block row that a team of warps multiplies.
struct BlockUnit {
  std::int64_t first;      ///< block
  std::int64_t end;        ///< block
  std::int32_t block_row;  ///< whose sums the blocks add to
  std::int32_t slot;   ///< where the piece's sums are kept. −1: the piece is the whole block row
  std::int32_t split;  ///< its `BlockSchedule::split_rows`. −1: the piece is the whole block row
};

/// A block row in several pieces.
struct SplitRow {
  std::int32_t block_row;
  std::int32_t first_slot;
  std::int32_t end_slot;
};

/// How the blocks are dealt out to teams of warps: block rows of more than `longest` blocks are cut
/// into pieces of equal length, whose sums are added in their order. Long units come first, up to a
/// factor of 2.
struct BlockSchedule {
  std::vector<BlockUnit> units;
  std::vector<SplitRow> split_rows;
  std::int32_t slots = 0;
};

/// The schedule for block rows with these offsets, one more than there are block rows. Block rows
/// without blocks have a unit, too: they make rows of C zero.
BlockSchedule block_schedule(const std::int64_t* row_offsets, Index block_rows, Index longest);

/// The most warps that share a unit.
inline constexpr int kMostWarpsPerUnit = 8;

/// The number of warps that share each of `units` units with `blocks` blocks together, a power of
/// two: as many as have room among `warps` warps at a time, as long as each has two blocks on
/// average.
int warps_per_unit(Index units, Index blocks, Index warps) noexcept;

/// How a plan keeps the blocks of A on a GPU.
enum class BlockStorage {
  automatic,  ///< rows where they move fewer bytes, else blocks
  blocks,
  rows,  ///< compressed rows in their natural order, multiplied without tensor cores
};

/// Whether a product with `nnz` entries in compressed rows moves so much less through the
/// second-level cache than one with `blocks` blocks of this shape that it is taken to be faster,
/// for 8 columns of B and values of `value_bytes`.
bool rows_are_faster(Index nnz, Index blocks, BlockShape shape, std::size_t value_bytes) noexcept;

/// C = A B on tensor cores (`mma.sync`, compute capability 8.0 and newer): m16n8k16 for `Half` and
/// `Bfloat16`, m16n8k8 for `Tf32`, with A in block CSR of 16×16 and 16×8 blocks. Scaling, rounding
/// and sums are as for the host, but sums of tensor cores cut off instead of rounding;
/// `product_error` bounds both. Where blocks hold few entries, A stays in compressed rows, whose
/// products are computed and summed in single precision.
template <class V>
class LowPrecisionPlan<V, CudaContext> {
 public:
  /// A block's rows have 32 bytes.
  static constexpr BlockShape kShape{16, 32 / static_cast<Index>(sizeof(V))};

  /// Rounds A on the host, builds its blocks in this order and copies them to the device. Throws
  /// `InvalidArgument` as `row_exponents` and `check_order`, `DeviceError` for a device without
  /// these tensor cores, `OutOfMemory`.
  template <Scalar T>
  LowPrecisionPlan(CudaContext& context, HostContext& host, CsrView<T, HostSpace> A,
                   RangeScaling scaling = RangeScaling::powers_of_two, const BlockOrder& order = {},
                   BlockStorage storage = BlockStorage::automatic);

  /// C = A B, queued on the context's stream; B cols×N, C rows×N, any N. The result has the same
  /// bits in every run. Allocates for more columns than before. NaN and Inf in B reach C. Entries
  /// that single precision cannot hold become infinite. Throws `InvalidArgument` if shapes do not
  /// fit.
  template <Scalar T>
  void multiply(CudaContext& context, ConstBlockView<T, DeviceSpace> B,
                BlockView<float, DeviceSpace> C);

  /// The same for a B that is in V already. It is not scaled, and it is read where it lies, by one
  /// kernel, if B.data() and B.ld()·sizeof(V) are multiples of 16 bytes and all B.ld() entries of
  /// each row can be read. Else it is copied first.
  void multiply(CudaContext& context, ConstBlockView<V, DeviceSpace> B,
                BlockView<float, DeviceSpace> C);

  /// C = A B for a B by columns, in T or in V, which is copied by rows. C is row-major. Throws as
  /// above.
  template <class T>
  void multiply(CudaContext& context, const ColumnMajorBlock<T, DeviceSpace>& B,
                BlockView<float, DeviceSpace> C);

  /// Whether A is kept in compressed rows.
  bool in_rows() const noexcept { return rows_format_.lane_exponent >= 0; }

  /// A row of A was scaled by 2^e with its e here.
  const std::vector<std::int32_t>& row_exponents() const noexcept { return host_row_exponents_; }

  /// The columns of B, of the last product. Waits for it.
  std::vector<std::int32_t> column_exponents(CudaContext& context) const;

 private:
  void check_shapes(const ConstBlockView<float, DeviceSpace>& C, Index rows_of_B,
                    Index columns_of_B) const;
  void store_rows(CudaContext& context, HostContext& host, const CsrView<float, HostSpace>& A);
  template <class T>
  detail::ShortBlock<V> rounded(CudaContext& context, detail::Rounding<V, T> rounding, bool scaled);
  template <class T>
  void multiply_rounded(CudaContext& context, const detail::Rounding<V, T>& rounding,
                        BlockView<float, DeviceSpace> C);
  void multiply_in_rows(CudaContext& context, const detail::ShortBlock<V>& B,
                        BlockView<float, DeviceSpace> C, bool scaled);
  void multiply_short(CudaContext& context, const detail::ShortBlock<V>& B,
                      BlockView<float, DeviceSpace> C, bool scaled);

  RangeScaling scaling_;
  std::vector<std::int32_t> host_row_exponents_;
  Index rows_ = 0;
  Index cols_ = 0;
  Index padded_cols_ = 0;  ///< of A: whole blocks
  Index blocks_ = 0;
  Index units_ = 0;
  Index split_rows_ = 0;
  std::int32_t slots_ = 0;
  detail::ShortRows<V> rows_format_;
  Buffer<V, DeviceSpace> values_;  ///< of dense blocks
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<std::int32_t, DeviceSpace> row_order_;
  Buffer<std::int32_t, DeviceSpace> column_order_;
  Buffer<std::int32_t, DeviceSpace> row_exponents_;
  Buffer<BlockUnit, DeviceSpace> schedule_;
  Buffer<SplitRow, DeviceSpace> split_;
  Index columns_of_B_ = 0;
  bool scaled_ = false;  ///< whether the last B was
  Buffer<std::int32_t, DeviceSpace> column_exponents_;
  Buffer<std::int32_t, DeviceSpace> largest_exponents_;
  Buffer<V, DeviceSpace> B_;                      ///< rounded, padded with zeros
  Buffer<float, DeviceSpace> partial_;            ///< sums of pieces
  Buffer<unsigned, DeviceSpace> arrived_pieces_;  ///< counters, 0 between products
  Buffer<unsigned, DeviceSpace> arrived_blocks_;  ///< likewise
};

}  // namespace heddle
