#pragma once

#include <algorithm>
#include <heddle/linalg/context/kernel.cuh>

/// How the kernel behind `gram` divides G = XᵀY into tiles, and how the lanes of a warp load rows.
namespace heddle {

/// The columns of a tile of 8·kUnits columns that the lanes of one row load. Where kPaired is set,
/// a lane has two neighbouring columns, which it loads at once.
template <int kUnits_, bool kPaired>
struct TileColumns {
  static constexpr int kUnits = kUnits_;
  static constexpr int kNeighbours = kPaired && kUnits % 2 == 0 ? 2 : 1;
  static constexpr int kGroups = kUnits / kNeighbours;
  static constexpr int kWidth = 8 * kUnits;

  /// The column of lane g = 0 … 7 in a unit.
  __device__ static int column(int unit, int g) {
    return unit / kNeighbours * 8 * kNeighbours + g * kNeighbours + unit % kNeighbours;
  }
};

/// The shape of the tiles of G = XᵀY, one tile per warp, and the number of rows that a warp loads
/// at once (a piece).
template <int kRowUnits_, int kColUnits_, int kQuads_, bool kPaired>
struct GramTile {
  static constexpr int kRowUnits = kRowUnits_;  ///< columns of X in a tile, divided by 8
  static constexpr int kColUnits = kColUnits_;  ///< columns of Y in a tile, divided by 8
  static constexpr int kQuads = kQuads_;        ///< rows of a piece, divided by 4
  using XColumns = TileColumns<kRowUnits, kPaired>;
  using YColumns = TileColumns<kColUnits, kPaired>;
  static constexpr int kHeight = XColumns::kWidth;
  static constexpr int kWidth = YColumns::kWidth;
  static constexpr int kPieceRows = 4 * kQuads;
  static constexpr int kEntries = kHeight * kWidth;
  static constexpr int kLaneEntries = kEntries / kWarp;
  static_assert(kRowUnits % 2 == 0 && kQuads % 2 == 0,
                "the matrix units take 16 columns of X by 8 rows");

  /// Row and column, within the tile, of a lane's e-th entry.
  __device__ static int row(int e, int lane) {
    return XColumns::column(e / (4 * kColUnits) * 2 + e / 2 % 2, lane / 4);
  }
  __device__ static int column(int e, int lane) {
    return YColumns::column(e / 4 % kColUnits, lane % 4 * 2 + e % 2);
  }
};

/// How the tiles of G are distributed: `tiles` warps of a thread block compute different tiles over
/// the same rows. A block has `groups` such teams of warps, each over different rows.
struct GramPlan {
  int row_tiles;
  int col_tiles;
  bool symmetric;  ///< only tiles of the upper triangle are computed, and tiles are square
  int tiles;
  int groups;

  static constexpr int kMaxWarps = 8;

  GramPlan(Index a, Index b, int height, int width, bool same)
      : row_tiles(static_cast<int>(ceil_div<Index>(a, height))),
        col_tiles(static_cast<int>(ceil_div<Index>(b, width))),
        symmetric(same),
        tiles(std::min(kMaxWarps, tile_count())),
        groups(kMaxWarps / tiles) {}

  __host__ __device__ int tile_count() const {
    return symmetric ? col_tiles * (col_tiles + 1) / 2 : row_tiles * col_tiles;
  }

  /// Row and column of tile `index` of G. Tiles are numbered column by column. In the symmetric
  /// case, a column ends at the diagonal.
  __device__ void locate(int index, int& row, int& col) const {
    for (col = 0;; ++col) {
      const int height = symmetric ? col + 1 : row_tiles;
      if (index < height) break;
      index -= height;
    }
    row = index;
  }
};

/// A block operand in the form of a kernel argument: the columns of one block, or those of two
/// blocks [Y Z] of the same leading dimension.
template <class T>
struct Operand {
  const T* data;
  Index ld;
  int cols;
  int split;       ///< columns of the first block
  const T* other;  ///< the second

  /// Column j of row 0.
  __device__ const T* column(int j) const { return j < split ? data + j : other + (j - split); }
};

template <class T>
struct alignas(2 * sizeof(T)) Neighbours {
  T first;
  T second;
};

/// A lane's entries X(t + 4q, column(u, g)), t = lane mod 4, of 4·kQuads rows by 8·kUnits columns
/// of an operand. Entries outside of the operand are 0.
template <class Columns, class T>
class LaneRows {
 public:
  static constexpr int kGroups = Columns::kGroups;
  static constexpr int kNeighbours = Columns::kNeighbours;

  /// The tile that begins at column `first` of X, from row `row` on.
  __device__ LaneRows(const Operand<T>& X, Index row, int first, int lane) : ld_(X.ld) {
#pragma unroll
    for (int p = 0; p < kGroups; ++p) {
      const int j = first + Columns::column(p * kNeighbours, lane / 4);
      present_[p] = j < X.cols;
      start_[p] = X.column(present_[p] ? j : 0) + (row + lane % 4) * X.ld;
    }
  }

  /// Moves on by `rows` rows.
  __device__ void advance(Index rows) {
#pragma unroll
    for (int p = 0; p < kGroups; ++p) start_[p] += rows * ld_;
  }

  /// Loads a piece of at most `rows` rows, counted from that of lane 0.
  template <int kQuads>
  __device__ void load(Index rows, int lane, T (&piece)[kQuads][Columns::kUnits]) const {
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const bool inside = 4 * q + lane % 4 < rows;
#pragma unroll
      for (int p = 0; p < kGroups; ++p) {
        const T* at = start_[p] + 4 * q * ld_;
        if constexpr (kNeighbours == 2) {
          Neighbours<T> pair{T{0}, T{0}};
          if (inside && present_[p]) pair = *reinterpret_cast<const Neighbours<T>*>(at);
          piece[q][2 * p] = pair.first;
          piece[q][2 * p + 1] = pair.second;
        } else {
          piece[q][p] = inside && present_[p] ? *at : T{0};
        }
      }
    }
  }

 private:
  const T* start_[kGroups];
  bool present_[kGroups];
  Index ld_;
};

}  // namespace heddle
