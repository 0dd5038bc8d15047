#pragma once

#include <heddle/spmm/kernels/cuda/staged/block_columns.hpp>
#include <heddle/spmm/kernels/cuda/staged_mma/tile_shape.hpp>

namespace heddle::detail::cuda {

/// The entries of a tile, where their values are, and the places of its columns. Panels repeat the
/// place of their last column to fill the last tile.
struct alignas(16) TallTile {
  std::uint32_t present[2];  ///< bit 4·i + k of [h]: row 8·h + i has an entry in column k
  std::uint32_t value;       ///< the first value, counted from the piece's first
  std::uint8_t places[kTallColumns];  ///< in the piece's columns
};

/// The first bytes of A's part of a piece. Its panel t has tiles panel_tiles[t] …
/// panel_tiles[t + 1] − 1.
struct alignas(16) PieceHead {
  std::uint32_t values;  ///< offset of the values in bytes
  std::uint32_t bytes;   ///< of the whole part
  std::uint16_t last;    ///< 1 for the last piece of a block
  std::uint16_t panel_tiles[kBlockPanels + 1];
};

/// Bytes from one row of B to the next in a stage. Version v of the kernel has stripes of 64·2ᵛ
/// bytes, and such a gap behind them that four neighbouring rows lie in different banks for loads
/// of 8 bytes (v = 0) or 16.
inline constexpr int kStageVersions = 4;
constexpr int stage_pitch(int version) noexcept {
  return (64 << version) + (version == 0 ? 32 : 16);
}

/// The arguments of `staged_mma` that represent A. A's part of a piece is one stretch of memory:
/// a PieceHead, the tiles, and the values by tiles, in a tile by rows, in any type V.
struct TilePiecesView {
  Index blocks = 0;
  /// The bytes of the largest piece by versions: A's part and its rows of B.
  int stage_bytes[kStageVersions] = {};
  bool long_parts = false;             ///< A's parts take twice the bytes of B's rows of 256 bytes
  const std::int32_t* rows = nullptr;  ///< kTileBlockRows per block: rows of C, or kNoRow
  const Index* first_piece = nullptr;  ///< blocks + 1
  const RowPiece* pieces = nullptr;    ///< their columns
  const std::int32_t* columns = nullptr;  ///< of B's rows, ascending in a block
  const uint4* parts = nullptr;           ///< A's parts of all pieces
  const Index* part_begin = nullptr;      ///< piece i has parts[part_begin[i]] … [i + 1] − 1
};

/// A in blocks of up to 128 rows that share columns (`order_rows`, bricks of 16 rows), each in
/// pieces of at most 128 distinct columns, each piece in panels of 16 rows, and the columns of a
/// panel in tiles of 4. Only the entries that A stores are kept: nnz·sizeof(V) bytes, 16 per tile,
/// 72 per piece, 4 per distinct column of a block and 512 per block.
template <class V>
class TilePieces {
 public:
  /// Builds the pieces on the device and waits for some sizes. The same matrix gives the same
  /// pieces. Needs 12 bytes per entry and 24 per row of A beside the result meanwhile. Throws
  /// `OutOfMemory`.
  template <class T>
  TilePieces(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  const TilePiecesView& view() const noexcept { return view_; }

 private:
  BlockColumns blocks_;
  Buffer<Index, DeviceSpace> part_begin_;
  Buffer<uint4, DeviceSpace> parts_;
  TilePiecesView view_;
};

}  // namespace heddle::detail::cuda
