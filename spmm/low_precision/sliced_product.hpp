#pragma once

#include <heddle/spmm/low_precision/rounded_product.hpp>
#include <heddle/spmm/low_precision/sliced_rows.hpp>

/// Products of a matrix in slices of rows, without tensor cores.
namespace heddle::detail {

/// The operands and results of the kernel, in device memory.
template <class V, class Result>
struct SlicedProduct {
  Index thread_blocks = 0;
  const SliceShare* shares = nullptr;
  const RowSlice* slices = nullptr;
  const std::int32_t* targets = nullptr;
  const CutRow* cut_rows = nullptr;
  const std::int32_t* columns = nullptr;  ///< null if B is staged
  /// Rows of B in shared memory, which begin at `kFirstStagedRow`; 0: no entry. Null if B is not
  /// staged.
  const std::uint16_t* staged_rows = nullptr;
  const V* values = nullptr;
  std::int32_t most_slots = 0;  ///< of a thread block
  /// Each thread block copies its piece of B to shared memory first.
  bool staged() const noexcept { return staged_rows != nullptr; }
  ShortBlock<V> B;  ///< without an order
  Result C;
};

/// Where B begins in shared memory, in rows. Row 0 is zero. Copies to places that are not aligned
/// to 128 bytes as their sources are take twice as long.
inline constexpr int kFirstStagedRow = 8;

/// Shared memory of a thread block of a product, in bytes: slots, and B if it is staged.
std::size_t sliced_product_bytes(Index rows_of_B, std::int32_t slots, bool staged) noexcept;

/// Warps per thread block: of a staged product it takes the whole multiprocessor.
inline constexpr Index kSliceWarps = 8;
inline constexpr Index kStagedWarps = 32;

/// C is a `ScaledBlock` or a `StepBlock`. A row's sum has a fixed order.
template <class V, class Result>
void multiply_slices(CudaContext& context, const SlicedProduct<V, Result>& product);

}  // namespace heddle::detail
