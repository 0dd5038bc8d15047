#pragma once

#include <heddle/spmm/kernels/cuda/panel_mma/panels.hpp>
#include <heddle/spmm/kernels/cuda/staged/block_columns.hpp>

namespace heddle::detail::cuda {

/// The rows of a block, in panels of `kPanelRows`.
inline constexpr int kTileBlockRows = 64;
inline constexpr int kBlockPanels = kTileBlockRows / kPanelRows;

/// The tiles of a piece. Its panel t has tiles panel_tiles[t] … panel_tiles[t + 1] − 1 of them.
struct PieceTiles {
  Index first_tile;   ///< even, so that headers and places are aligned to 16 bytes
  Index first_value;  ///< likewise
  int tiles;          ///< even; behind the panels' tiles there may be an empty one
  int values;         ///< a multiple of 16 bytes
  std::uint16_t panel_tiles[kBlockPanels + 1];
};

/// The arguments of `staged_mma` that represent A, whose values are stored as V.
template <class V>
struct TilePiecesView {
  Index blocks = 0;
  int most_columns = 0;                   ///< of a piece
  int most_tiles = 0;                     ///< likewise
  int most_values = 0;                    ///< likewise
  const std::int32_t* rows = nullptr;     ///< kTileBlockRows per block: rows of C, or kNoRow
  const Index* first_piece = nullptr;     ///< blocks + 1
  const RowPiece* pieces = nullptr;       ///< their columns
  const PieceTiles* tiles = nullptr;      ///< the same pieces' tiles
  const std::int32_t* columns = nullptr;  ///< of B's rows, ascending in a block
  const TileHeader* headers = nullptr;    ///< one per tile, offsets from the piece's first value
  const std::uint16_t* places = nullptr;  ///< 4 per tile, in the piece's columns
  const V* values = nullptr;              ///< by tiles, in a tile by rows
};

/// A in blocks of 64 rows that share columns (`order_rows`), each in pieces of at most 256 distinct
/// columns and about 4096 entries, each piece in panels of 8 rows, and the columns of a panel in
/// tiles of 4. Only the entries that A stores are kept: nnz·sizeof(V) bytes, 16 per tile and 4 per
/// distinct column of a block.
template <class V>
class TilePieces {
 public:
  /// Builds the pieces on the device and waits for some sizes. The same matrix gives the same
  /// pieces. Needs 12 bytes per entry of A beside the result meanwhile. Throws `OutOfMemory`.
  template <class T>
  TilePieces(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  const TilePiecesView<V>& view() const noexcept { return view_; }

 private:
  BlockColumns blocks_;
  Buffer<PieceTiles, DeviceSpace> tiles_;
  Buffer<TileHeader, DeviceSpace> headers_;
  Buffer<std::uint16_t, DeviceSpace> places_;
  Buffer<V, DeviceSpace> values_;
  TilePiecesView<V> view_;
};

}  // namespace heddle::detail::cuda
