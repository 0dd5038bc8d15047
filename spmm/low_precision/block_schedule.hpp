#pragma once

#include <cstdint>
#include <heddle/linalg/context/context.hpp>
#include <vector>

/// How the blocks of a matrix are dealt out to warps. All offsets count blocks.
namespace heddle::detail {

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

/// Block rows one by one: those of more than `longest` blocks are cut into pieces of equal length,
/// whose sums are added in their order. Long units come first, up to a factor of 2.
struct BlockSchedule {
  std::vector<BlockUnit> units;
  std::vector<SplitRow> split_rows;
  std::int32_t slots = 0;
};

/// The schedule for block rows with these offsets, one more than there are block rows. Block rows
/// without blocks have a unit, too: they make rows of C zero.
BlockSchedule block_schedule(const std::int64_t* row_offsets, Index block_rows, Index longest);

/// The widest slab of columns that a warp multiplies at a time.
inline constexpr Index kWidestSlab = 64;

/// Columns of the slabs for N columns: 8, 16, 32 or 64.
Index slab_columns(Index N) noexcept;

/// The most warps that share a unit.
inline constexpr int kMostWarpsPerUnit = 8;

/// The number of warps that share each of `units` units with `blocks` blocks together, a power of
/// two: as many as have room among `warps` warps at a time, as long as each has two blocks on
/// average.
int warps_per_unit(Index units, Index blocks, Index warps) noexcept;

/// The neighbouring block rows of a thread block.
struct alignas(8) RowShare {
  std::int32_t first_row;  ///< block row
  std::int32_t rows;       ///< block rows
};

/// The neighbouring blocks of a warp. Where they begin, and where a block row begins among them, a
/// slot for sums begins. Slots are numbered by thread blocks.
struct alignas(8) WarpShare {
  static constexpr Index kMost = 4;  ///< blocks

  std::int32_t first;    ///< block
  std::uint32_t packed;  ///< the rest

  /// `starts`: bit k is set if a block row begins with block first + k, k > 0.
  static WarpShare of(Index first, Index count, unsigned starts, Index first_slot) noexcept {
    return {static_cast<std::int32_t>(first), static_cast<std::uint32_t>(count) | starts << 8 |
                                                  static_cast<std::uint32_t>(first_slot) << 16};
  }
  constexpr int count() const noexcept { return static_cast<int>(packed & 0xff); }
  constexpr unsigned starts() const noexcept { return packed >> 8 & 0xff; }
  /// Of the first block's sums.
  constexpr int first_slot() const noexcept { return static_cast<int>(packed >> 16); }
};

/// The slots of a block row, in the order of its blocks.
struct alignas(8) RowSlots {
  std::int32_t first;
  std::int32_t end;
};

/// Block rows dealt out to thread blocks in runs of about the same length, and the blocks of a
/// thread block to its warps in equal runs, wherever block rows end.
struct ShareSchedule {
  std::vector<RowShare> shares;  ///< per thread block
  std::vector<WarpShare> warps;  ///< per thread block and warp
  std::vector<RowSlots> slots;   ///< per block row
  std::int32_t most_slots = 0;   ///< of a thread block
  Index most_blocks = 0;         ///< of a warp. Beyond `WarpShare::kMost` `warps` is not usable
};

/// The schedule of block rows with these offsets for `thread_blocks` thread blocks of `warps`
/// warps.
ShareSchedule share_schedule(const std::int64_t* row_offsets, Index block_rows, Index thread_blocks,
                             Index warps);

}  // namespace heddle::detail
