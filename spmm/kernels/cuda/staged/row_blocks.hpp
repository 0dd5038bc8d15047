#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/kernels/cuda/staged/block_columns.hpp>

namespace heddle::detail::cuda {

/// The number of neighbouring rows of a block, a team, whose entries are stored together, by
/// columns, so that a row of B is read from shared memory once for all of them.
inline constexpr int kTeamRows = 2;

/// The number of columns of a team that are stored together: their values, then their places.
inline constexpr int kQuad = 4;

/// The number of values of a quad.
inline constexpr int kQuadValues = kQuad * kTeamRows;

/// The arguments of `staged` that represent A, whose values are stored as V.
template <class V>
struct RowBlocksView {
  int rows_per_block = 0;  ///< R, a multiple of 8
  Index blocks = 0;
  int most_columns = 0;  ///< of a piece, rounded up to a multiple of 4
  int most_quads = 0;    ///< of a piece
  /// R per block: rows of C, `kNoRow` behind the last one, kNoRow − 1 − p for a part p of a row.
  const std::int32_t* rows = nullptr;
  const Index* first_piece = nullptr;  ///< blocks + 1
  const RowPiece* pieces = nullptr;
  const std::int32_t* columns = nullptr;  ///< of B's rows, ascending in a block
  /// `quad_pitch()` per piece: team t of the block has quads [t] … [t + 1] − 1 of the piece's.
  const std::uint16_t* team_quads = nullptr;
  /// kQuadValues per quad: of each column those of the team's rows, 0 where a row lacks the column.
  const V* values = nullptr;
  /// 4 per quad, places in the piece's columns. A quad that is not full repeats the place of the
  /// team's last column, with values 0.
  const std::uint16_t* places = nullptr;

  __host__ __device__ constexpr int teams() const noexcept { return rows_per_block / kTeamRows; }
  /// More than `teams()`, and a multiple of 16 bytes.
  __host__ __device__ constexpr int quad_pitch() const noexcept { return teams() / 8 * 8 + 8; }
};

/// A in blocks of rows that share columns (`order_rows`), each in pieces that fit into shared
/// memory.
template <class V>
class RowBlocks {
 public:
  /// Builds the blocks on the device and waits for some sizes. The same matrix gives the same
  /// blocks. Needs 12 bytes per entry of A in addition to the result meanwhile. Throws
  /// `OutOfMemory`.
  template <class T>
  RowBlocks(CudaContext& context, const CsrView<T, DeviceSpace>& A, const PieceLimits& limits);

  /// From now on, row r of the matrix belongs to targets[r] (see `RowBlocksView::rows`).
  void set_targets(CudaContext& context, const std::int32_t* targets);

  const RowBlocksView<V>& view() const noexcept { return view_; }
  Index pieces() const noexcept { return static_cast<Index>(pieces_.size()); }
  /// Distinct columns, summed over blocks.
  Index columns() const noexcept { return static_cast<Index>(columns_.size()); }

 private:
  template <class T>
  void store_entries(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  Buffer<std::int32_t, DeviceSpace> rows_;
  Buffer<Index, DeviceSpace> first_piece_;
  Buffer<RowPiece, DeviceSpace> pieces_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<std::uint16_t, DeviceSpace> team_quads_;
  Buffer<V, DeviceSpace> values_;
  Buffer<std::uint16_t, DeviceSpace> places_;
  RowBlocksView<V> view_;
};

}  // namespace heddle::detail::cuda
