#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/panel_columns.hpp>

namespace heddle::detail::cuda {

/// The number of distinct columns per tile. With `kPanelRows`, it gives the shape of A in the
/// tensor cores' double-precision product of 8×4 by 4×8.
inline constexpr int kTileColumns = 4;

/// The entries that a tile has, and the position of their values.
struct TileHeader {
  std::uint32_t present;  ///< bit 4·i + k: the panel's row i has an entry in the tile's column k
  std::uint32_t offset;   ///< of the tile's first value from the panel's first
};

/// A range of tiles that a team of warps multiplies: all tiles of a panel, or a part of a long
/// panel.
struct PanelUnit {
  Index panel;
  Index first_tile;
  Index last_tile;  ///< one past
  Index part;       ///< index of the part that holds the unit's sums, or −1 for a whole panel
};

/// A panel that consists of several units. Their sums are parts first_part … last_part − 1.
struct SplitPanel {
  Index panel;
  Index first_part;
  Index last_part;  ///< one past
};

/// The arguments of `panel_mma` that represent A, whose values are stored as V.
template <class V>
struct PanelsView {
  Index rows = 0;
  const std::int64_t* row_offsets = nullptr;  ///< of A: panel p's values begin at row_offsets[8p]
  const Index* tile_begin = nullptr;          ///< panel p has tiles tile_begin[p] … [p + 1] − 1
  const std::int32_t* columns = nullptr;  ///< 4 per tile, the last repeated to fill the last tile
  const TileHeader* headers = nullptr;    ///< one per tile
  const V* values = nullptr;              ///< by tiles, in a tile by rows
  const PanelUnit* units = nullptr;       ///< null where every panel is one unit
  const SplitPanel* split_panels = nullptr;
  Index unit_count = 0;
  Index split_count = 0;

  constexpr Index count() const noexcept { return (rows + kPanelRows - 1) / kPanelRows; }
};

/// A in panels of 8 rows. The distinct columns of a panel, ascending, are divided into tiles of 4.
/// Only the entries that A stores are kept: nnz·sizeof(V) bytes and 24 bytes per tile. If panels
/// differ much in length, long ones are divided into units of about equally many tiles.
template <class V>
class Panels {
 public:
  Panels() = default;

  /// Builds the panels on the device and waits for the number of tiles. A's offsets are not copied
  /// and must outlive this object. Throws `OutOfMemory`, and `InvalidArgument` if eight rows hold
  /// 2³² entries.
  template <class T>
  Panels(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  const PanelsView<V>& view() const noexcept { return view_; }
  Index tiles() const noexcept { return tiles_; }

  /// The number of warps that share a unit's tiles, 1 if there are enough panels to occupy a
  /// device.
  int warps_per_unit() const noexcept { return warps_per_unit_; }
  /// The number of units whose sums are added by a second pass.
  Index parts() const noexcept { return parts_; }

 private:
  void split_long_panels(CudaContext& context);

  Buffer<Index, DeviceSpace> tile_begin_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<TileHeader, DeviceSpace> headers_;
  Buffer<V, DeviceSpace> values_;
  Buffer<PanelUnit, DeviceSpace> units_;
  Buffer<SplitPanel, DeviceSpace> split_panels_;
  PanelsView<V> view_;
  Index tiles_ = 0;
  Index parts_ = 0;
  int warps_per_unit_ = 1;
};

}  // namespace heddle::detail::cuda
