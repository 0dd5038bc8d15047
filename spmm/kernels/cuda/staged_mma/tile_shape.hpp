#pragma once

#include <algorithm>
#include <bit>
#include <heddle/linalg/context/context.hpp>

namespace heddle::detail::cuda {

/// The shape of A's tiles: that of A in the tensor cores' double-precision product of 16×4 by 4×8.
inline constexpr int kTallRows = 16;
inline constexpr int kTallColumns = 4;

/// The most rows of a row block, in panels of `kTallRows`.
inline constexpr int kTileBlockRows = 128;
inline constexpr int kBlockPanels = kTileBlockRows / kTallRows;

/// The most distinct columns of a piece.
inline constexpr int kTilePieceColumns = 128;

/// The most rows of A's row blocks: fewer where there would not be three row blocks for four
/// multiprocessors.
constexpr int tile_block_rows(Index rows, int multiprocessors) noexcept {
  const auto share =
      static_cast<std::uint64_t>(std::max<Index>(4 * rows / (3 * multiprocessors), 1));
  return static_cast<int>(
      std::clamp<std::uint64_t>(std::bit_floor(share), kTallRows, kTileBlockRows));
}

}  // namespace heddle::detail::cuda
