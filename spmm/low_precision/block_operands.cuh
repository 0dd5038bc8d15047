#pragma once

#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/low_precision/block_mma.cuh>
#include <heddle/spmm/low_precision/block_product.hpp>
#include <heddle/spmm/low_precision/results.cuh>

/// Device functions that the kernels for blocks on tensor cores share: a warp's loads of A and B,
/// its products, and the stores of its sums.
namespace heddle::detail {

/// Of a 16×8 tile of C per entry, as mma leaves them.
template <int kTiles>
using TileSums = float[kTiles][4];

/// The rows of C that a lane holds sums of, and the exponents by which they were scaled.
struct RowsOfC {
  std::int32_t row[2] = {-1, -1};
  int exponent[2] = {0, 0};
};

template <class Result>
__device__ RowsOfC rows_of_C(const Result& C, const std::int32_t* row_order, std::int32_t block_row,
                             int lane) {
  RowsOfC result;
  for (int h = 0; h < 2; ++h) {
    const std::int32_t position = block_row * kBlockRows + lane / 4 + 8 * h;
    if (block_row < 0 || position >= C.rows) continue;
    result.row[h] = row_order == nullptr ? position : __ldg(row_order + position);
    result.exponent[h] = exponent_of_row(C, result.row[h]);
  }
  return result;
}

/// Where a lane finds its part of a slab of B.
template <class V, int kTiles>
class SlabOfB {
 public:
  using Layout = SlabLayout<V, kTiles>;
  using Registers = std::uint32_t[2][Layout::kGroups][Layout::kGroup];

  __device__ SlabOfB(const ShortBlock<V>& B, int N, int column, int lane)
      : first_(reinterpret_cast<const char*>(B.values + column + Layout::column_of_B(lane))),
        order_(B.order),
        rows_(B.rows),
        row_bytes_(B.row_bytes) {
    const int at = column + Layout::column_of_B(lane);
#pragma unroll
    for (int group = 0; group < Layout::kGroups; ++group) {
      inside_[group] = at + group * Layout::kGroupColumns < N;
    }
  }

  /// The lane's entries of two rows of B if `wanted`, else 0. Those of block columns can lie beyond
  /// B, where they are 0, and B can have an order. Without branches, so that the loads of several
  /// blocks follow each other.
  template <bool kGathered>
  __device__ void load_rows(Registers& b, const std::int32_t (&rows)[2], bool wanted) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const bool row_inside = wanted && (kGathered || rows[h] < rows_);
      const bool ordered = !kGathered && order_ != nullptr && row_inside;
      const std::int32_t row = ordered ? __ldg(order_ + rows[h]) : rows[h];
      const char* const from = first_ + Index{row} * row_bytes_;
#pragma unroll
      for (int group = 0; group < Layout::kGroups; ++group) {
        constexpr int kStep = Layout::kGroupColumns * static_cast<int>(sizeof(V));
        load_if(b[h][group], from + group * kStep, row_inside && inside_[group]);
      }
    }
  }

 private:
  const char* first_;  ///< the lane's first column
  const std::int32_t* order_;
  std::int32_t rows_;
  std::int32_t row_bytes_;
  bool inside_[Layout::kGroups];
};

/// The lane's rows of B for each of kAhead blocks.
template <int kAhead>
using RowsOfB = std::int32_t[kAhead][2];

/// Those of the blocks first … first + kAhead − 1 as far as they are among the next `count`: rows
/// of the columns that a block holds, or of its block column.
template <class V, bool kGathered, int kAhead>
__device__ void find_rows(const StoredBlocks<V>& A, Index first, int count, int lane,
                          RowsOfB<kAhead>& rows) {
  using Layout = SlabLayout<V, 1>;
  constexpr int kInner = Layout::kInner;
  const int inner = Layout::row_of_B(lane, 0);
  const std::int32_t* const columns = A.columns + (kGathered ? first * kInner + inner : first);
#pragma unroll
  for (int u = 0; u < kAhead; ++u) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      rows[u][h] = 0;
      if (u >= count) continue;
      const int half = h * kInner / 2;
      rows[u][h] = kGathered ? __ldg(columns + u * kInner + half)
                             : __ldg(columns + u) * kInner + inner + half;
    }
  }
}

/// Where a lane's part of a block of A lies.
template <class V>
__device__ const V* lane_of_block(const StoredBlocks<V>& A, Index block, int lane) {
  constexpr int kLaneValues = 16 / static_cast<int>(sizeof(V));
  return A.values + (block * kWarp + lane) * kLaneValues;
}

/// A block of A and the rows of B that it meets.
template <class V, int kTiles>
struct Operands {
  using Layout = SlabLayout<V, kTiles>;
  std::uint32_t a[4];
  typename SlabOfB<V, kTiles>::Registers b;

  /// `lane_of_A`: the lane's part of a first block, of which this one is the k-th.
  __device__ void load_A(const V* lane_of_A, int k) {
    constexpr int kLaneValues = 16 / static_cast<int>(sizeof(V));
    load_block(a, lane_of_A + k * (kWarp * kLaneValues));
  }

  __device__ void multiply(TileSums<kTiles>& sums) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      constexpr int kGroup = Layout::kGroup;
      using Bits = decltype(V::bits);
      multiply_add(sums[tile], a, fragment_of_B(b[0][tile / kGroup][tile % kGroup], Bits{}),
                   fragment_of_B(b[1][tile / kGroup][tile % kGroup], Bits{}), V{});
    }
  }
};

/// sums += other, of one tile.
__device__ inline void add_tile(float (&sums)[4], const float4& other) {
  sums[0] += other.x;
  sums[1] += other.y;
  sums[2] += other.z;
  sums[3] += other.w;
}

__device__ inline float4 vector_of(const float (&sums)[4]) {
  return make_float4(sums[0], sums[1], sums[2], sums[3]);
}

/// Stores the sums.
template <class V, int kTiles, class Result>
__device__ void store(const Result& C, const RowsOfC& rows, int column, int lane,
                      const TileSums<kTiles>& sums) {
  using Layout = SlabLayout<V, kTiles>;
  constexpr int kEntries = 2 * Layout::kGroup;
#pragma unroll
  for (int group = 0; group < Layout::kGroups; ++group) {
    const int at = column + group * Layout::kGroupColumns + Layout::column_of_C(lane);
    if (at >= C.N) continue;
    int exponents[kEntries];
    exponents_of_columns(C, at, exponents);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (rows.row[h] < 0) continue;
      float entries[kEntries];
#pragma unroll
      for (int j = 0; j < Layout::kGroup; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          entries[Layout::offset_in_C(j, e)] = sums[group * Layout::kGroup + j][2 * h + e];
        }
      }
      store_sums(C, rows.row[h], rows.exponent[h], exponents, at, entries);
    }
  }
}

}  // namespace heddle::detail
