#pragma once

#include <heddle/spmm/low_precision/block_schedule.hpp>
#include <heddle/spmm/low_precision/rounded_product.hpp>

/// Products of a matrix in dense blocks on tensor cores.
namespace heddle::detail {

/// A in dense blocks of 16 rows, in device memory.
template <class V>
struct StoredBlocks {
  const V* values = nullptr;  ///< blocks in `fragment_order`
  /// Gathered: per block the columns of A that it holds. Else its block column.
  const std::int32_t* columns = nullptr;
  bool gathered = false;
  const std::int32_t* row_order = nullptr;  ///< null: the natural order
};

/// A product in which teams of warps multiply pieces of block rows.
template <class V, class Result>
struct BlockProduct {
  StoredBlocks<V> A;
  ShortBlock<V> B;
  Result C;
  Index units = 0;
  int team_exponent = 0;  ///< 2^this warps share a unit
  const BlockUnit* schedule = nullptr;
  const SplitRow* split = nullptr;
  float* partial = nullptr;     ///< sums of pieces: 16 × `slab_columns` entries per slot and slab
  unsigned* arrived = nullptr;  ///< pieces per split row and slab, 0 before and after the product
};

/// A product in which thread blocks take runs of block rows, and their warps equal shares of the
/// blocks.
template <class V, class Result>
struct ShareProduct {
  StoredBlocks<V> A;
  ShortBlock<V> B;
  Result C;
  Index thread_blocks = 0;
  const RowShare* shares = nullptr;
  const WarpShare* warps = nullptr;
  const RowSlots* slots = nullptr;
  std::int32_t most_slots = 0;  ///< of a thread block
};

/// The most columns of a `ShareProduct`.
inline constexpr Index kWidestShare = 8;

/// The warps of a thread block of a `ShareProduct`.
inline constexpr Index kShareWarps = 16;

/// The most slots that a thread block of a `ShareProduct` has room for.
inline constexpr std::int32_t kMostShareSlots = 80;

/// Warps of a product with N columns that the device has room for at a time.
Index warps_at_a_time(const CudaContext& context, Index N) noexcept;

/// C is a `ScaledBlock` or a `StepBlock`. Sums have a fixed order.
template <class V, class Result>
void multiply_blocks(CudaContext& context, const BlockProduct<V, Result>& product);

/// The same for N ≤ `kWidestShare`.
template <class V, class Result>
void multiply_shares(CudaContext& context, const ShareProduct<V, Result>& product);

}  // namespace heddle::detail
