#pragma once

#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/features/row_grid.hpp>

namespace heddle::detail {

/// Tiles of neighbouring rows from which the reuse of columns is computed.
struct RowTiles {
  Index rows;  ///< of A in a tile
  Index most;  ///< tiles

  /// A tile ends after this many entries.
  static constexpr Index kMostEntries = Index{1} << 20;
  /// Memory for one bit per column and tile.
  static constexpr Index kMostBytes = Index{1} << 26;

  /// The number of tiles that are looked at in a matrix of this shape.
  constexpr Index count(Index rows_of_A, Index cols_of_A) const noexcept {
    const Index all = (rows_of_A + rows - 1) / rows;
    const Index held = kMostBytes / (cols_of_A / 8 + 1);
    const Index wanted = all < most ? all : most;
    return wanted < held ? wanted : held > 0 ? held : 1;
  }

  /// The first row of tile `tile` of `samples`.
  constexpr Index first_row(Index tile, Index samples, Index rows_of_A) const noexcept {
    return RowSample::place(tile, samples, (rows_of_A + rows - 1) / rows) * rows;
  }
};

/// The tiles of R(128) on a GPU, and of R(2048) and R(32768) everywhere.
inline constexpr RowTiles kLowTiles = {128, 64};
inline constexpr RowTiles kMiddleTiles = {2048, 16};
inline constexpr RowTiles kHighTiles = {32768, 4};

/// The counts of some tiles.
struct TileCount {
  Index entries = 0;
  Index distinct = 0;   ///< columns, summed over tiles
  Index following = 0;  ///< entries in the column after that of the entry stored before them

  constexpr double reuse() const noexcept {
    return distinct > 0 ? static_cast<double>(entries) / static_cast<double>(distinct) : 0;
  }
  constexpr double run() const noexcept {
    return entries > 0 ? static_cast<double>(entries) / static_cast<double>(entries - following)
                       : 0;
  }
};

}  // namespace heddle::detail
