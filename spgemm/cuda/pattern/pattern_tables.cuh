#pragma once

#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/pattern/pattern.hpp>
#include <heddle/spgemm/cuda/teams/row_team.cuh>
#include <limits>

/// The columns of one row of C = A B in shared memory, as masks of blocks of 32 columns.
namespace heddle::detail {

/// The places of the tables of bin 0, doubled per bin.
inline constexpr int kLeastSlots = 32;

/// Tables of bins up to these belong to 8 lanes and to a warp, the larger ones to a thread block.
inline constexpr int kNarrow = 1;
inline constexpr int kWarpBins = 5;
inline constexpr int kNarrowLanes = 8;

/// Rows with more blocks of B to enter than this have a thread block.
inline constexpr Index kMostForWarp = 1024;

__host__ __device__ constexpr int slots_of(int bin) { return kLeastSlots << bin; }

__host__ __device__ constexpr Index blocks_of(Index cols) {
  return (cols + kBlockColumns - 1) / kBlockColumns;
}

/// A table is at most three quarters full. Where a mask per block of columns takes no more memory
/// than its keys and masks, there is no table to search and to sort. `blocks`: blocks of B to enter
/// for a row of C.
__device__ inline int bin_of_bound(Index blocks, Index cols) {
  const Index all = blocks_of(cols);
  const Index bound = blocks < all ? blocks : all;
  int bin = 0;
  while (bin < kTables && bound * 4 > Index{slots_of(bin)} * 3) ++bin;
  if (bin == kTables || all > 2 * slots_of(bin)) return bin;
  const bool for_warp = blocks <= kMostForWarp && all <= 2 * slots_of(kWarpBins);
  return for_warp ? kMasksOfWarp : kMasksOfBlock;
}

/// The work for a row of C.
struct RowWork {
  Index blocks = 0;    ///< blocks of B to enter
  Index products = 0;  ///< multiplications
  Index longest = 0;   ///< entries of the longest row of B that is needed
};

/// The work for row i, the same for all lanes of a team, `longest` aside. W ≤ kWarp lanes per row,
/// and none for a team without `is_row`. `rows_of_B`: the row offsets of B.
template <int W>
__device__ RowWork work_of_row(const PatternFactors& factors, const std::int64_t* rows_of_B,
                               const std::int32_t* blocks_of_B, Index i, bool is_row) {
  RowWork work;
  const Index end = is_row ? factors.row_offsets[i + 1] : 0;
#pragma unroll 4
  for (Index a = is_row ? factors.row_offsets[i] + RowTeam<W>::lane() : 0; a < end; a += W) {
    const std::int32_t k = factors.columns[a];
    const Index length = rows_of_B[k + 1] - rows_of_B[k];
    work.blocks += blocks_of_B[k];
    work.products += length;
    work.longest = length > work.longest ? length : work.longest;
  }
  __syncwarp();
  work.blocks = lane_sum<W>(work.blocks);
  work.products = lane_sum<W>(work.products);
  return work;
}

/// The entries of B as blocks: those that were written, or one per column.
struct WrittenBlocks {
  using Entry = ColumnBlock;
  const ColumnBlock* blocks;
  __device__ Entry load(Index e) const { return blocks[e]; }
  __device__ static ColumnBlock block(Entry entry) { return entry; }
};
struct BlocksOfColumns {
  using Entry = std::int32_t;
  const std::int32_t* columns;
  __device__ Entry load(Index e) const { return __ldg(columns + e); }
  __device__ static ColumnBlock block(Entry column) { return {block_of(column), bit_of(column)}; }
};

/// Rows of B, one per lane of S, whose entries the lanes read one after the other, whatever the
/// lengths of the rows.
template <int S>
class RowsInTurn {
 public:
  /// The entries from, from + 1 … of this lane's row.
  __device__ RowsInTurn(Index from, int length) {
    const int before = RowTeam<S>::scan(length, count_);
    end_ = before + length;
    base_ = from - before;
  }

  /// Calls enter(block) for all entries. Some are loaded before any of them is entered, because a
  /// load takes longer than all else. All lanes of a warp call it together.
  template <class Source, class Enter>
  __device__ void for_each(const Source& source, const Enter& enter) const {
    constexpr int kAtOnce = 4;
    const int most = __reduce_max_sync(kAllLanes, count_);
    for (int first = 0; first < most; first += kAtOnce * S) {
      typename Source::Entry entry[kAtOnce];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        const int t = first + u * S + lane_index() % S;
        const Index base = base_of(t);
        if (t < count_) entry[u] = source.load(base + t);
      }
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        if (first + u * S + lane_index() % S < count_) enter(Source::block(entry[u]));
      }
    }
  }

 private:
  /// Entry base + t of B is the entry t of all rows.
  __device__ Index base_of(int t) const {
    int row = 0;
    for (int step = S / 2; step > 0; step /= 2) {
      if (__shfl_sync(kAllLanes, end_, row + step - 1, S) <= t) row += step;
    }
    return __shfl_sync(kAllLanes, base_, row, S);
  }

  int end_;     ///< entries up to those of this lane's row
  int count_;   ///< of all rows
  Index base_;  ///< for this lane's row
};

/// Calls enter(block) for the blocks of the rows of B that row `row` of C is a sum of. All
/// teams of a warp call it together, those without a row with `is_row` unset.
template <int W, class Enter>
__device__ void for_each_block(const PatternFactors& factors, Index row, bool is_row,
                               const Enter& enter) {
  using Team = RowTeam<W>;
  constexpr int S = W < kWarp ? W : kWarp;
  constexpr int kFactors = W <= kWarp ? S : 8;  // few, so that all warps of a block have some
  const BlockRowsView& B = factors.B;
  const int lane = Team::lane() % S;
  const Index last = is_row ? factors.row_offsets[row + 1] : 0;
  Index a = is_row ? factors.row_offsets[row] + Team::lane() / S * kFactors : 0;
  for (; __any_sync(kAllLanes, a < last); a += kFactors * (W / S)) {
    Index from = 0;
    int length = 0;
    if (lane < kFactors && a + lane < last) {
      const std::int32_t k = factors.columns[a + lane];
      from = B.offsets[k];
      length = static_cast<int>(B.offsets[k + 1] - from);
      if (B.blocks != nullptr) {
        from -= B.offsets[0];
        length = B.counts[k];
      }
    }
    const RowsInTurn<S> rows(from, length);
    if (B.blocks != nullptr) {
      rows.for_each(WrittenBlocks{B.blocks}, enter);
    } else {
      rows.for_each(BlocksOfColumns{B.columns}, enter);
    }
  }
}

/// The masks of all blocks of columns of one row of C in shared memory.
template <int W>
class BlockMasks {
 public:
  using Team = RowTeam<W>;

  __device__ BlockMasks(char* memory, int blocks)
      : blocks_(blocks), counters_(reinterpret_cast<int*>(memory)) {
    masks_ = reinterpret_cast<unsigned*>(counters_ + kCounters);
  }

  /// The bytes of the masks, the counters, and what follows.
  static constexpr std::size_t bytes(int blocks, int staged) {
    return static_cast<std::size_t>(kCounters + padded(blocks) + staged) * sizeof(std::int32_t);
  }
  __device__ std::int32_t* stage() {
    return reinterpret_cast<std::int32_t*>(masks_ + padded(blocks_));
  }

  __device__ void enter_row(const PatternFactors& factors, Index row, bool is_row) {
    for (int q = Team::lane(); q < padded(blocks_) / kQuad; q += W) quads()[q] = {0, 0, 0, 0};
    if (Team::lane() < 2) counters_[Team::lane()] = 0;
    Team::sync();
    for_each_block<W>(factors, row, is_row,
                      [this](ColumnBlock block) { atomicOr(masks_ + block.key, block.mask); });
    Team::sync();
  }

  /// The entries and the blocks of the row, for all threads of the team.
  __device__ void count(int& entries, int& blocks) {
    int mine = 0;
    int found = 0;
    const auto add = [&mine, &found](unsigned mask) {
      mine += __popc(mask);
      found += mask != 0 ? 1 : 0;
    };
    for (int q = Team::lane(); q < padded(blocks_) / kQuad; q += W) {
      const uint4 masks = quads()[q];
      add(masks.x);
      add(masks.y);
      add(masks.z);
      add(masks.w);
    }
    atomicAdd(counters_, mine);
    atomicAdd(counters_ + 1, found);
    Team::sync();
    entries = counters_[0];
    blocks = counters_[1];
  }

  /// The blocks, of which some are empty, are in order.
  __device__ int sort() const { return blocks_; }
  __device__ std::int32_t key(int place) const { return place; }
  __device__ unsigned mask(int place) const { return masks_[place]; }

 private:
  static constexpr int kCounters = 4;
  static constexpr int kQuad = 4;  // masks that are accessed together

  __host__ __device__ static constexpr int padded(int blocks) {
    return (blocks + kQuad - 1) / kQuad * kQuad;
  }
  __device__ uint4* quads() { return reinterpret_cast<uint4*>(masks_); }

  int blocks_;
  int* counters_;
  unsigned* masks_;
};

/// A team's hash table of the blocks of one row of C in shared memory.
template <int W>
class BlockTable {
 public:
  using Team = RowTeam<W>;

  __device__ BlockTable(char* memory, int slots)
      : slots_(slots),
        keys_(reinterpret_cast<std::int32_t*>(memory)),
        masks_(reinterpret_cast<unsigned*>(memory) + slots),
        counters_(reinterpret_cast<int*>(memory) + 2 * slots) {}

  /// The bytes of a table, two counters, and what follows.
  static constexpr std::size_t bytes(int slots, int staged) {
    return static_cast<std::size_t>(2 * slots + 4 + staged) * sizeof(std::int32_t);
  }
  __device__ std::int32_t* stage() { return keys_ + 2 * slots_ + 4; }

  __device__ void enter_row(const PatternFactors& factors, Index row, bool is_row) {
    for (int s = Team::lane(); s < slots_; s += W) {
      keys_[s] = kFree;
      masks_[s] = 0;
    }
    if (Team::lane() < 2) counters_[Team::lane()] = 0;
    Team::sync();
    for_each_block<W>(factors, row, is_row, [this](ColumnBlock block) {
      atomicOr(masks_ + enter_key(keys_, static_cast<unsigned>(slots_), block.key), block.mask);
    });
    Team::sync();
  }

  /// The entries and the blocks of the row, for all threads of the team.
  __device__ void count(int& entries, int& blocks) {
    int mine = 0;
    int keys = 0;
    for (int s = Team::lane(); s < slots_; s += W) {
      mine += __popc(masks_[s]);
      keys += keys_[s] != kFree ? 1 : 0;
    }
    atomicAdd(counters_, mine);
    atomicAdd(counters_ + 1, keys);
    Team::sync();
    entries = counters_[0];
    blocks = counters_[1];
  }

  /// Moves the blocks to the front, in ascending order. Returns their number.
  __device__ int sort() {
    for (int s = Team::lane(); s < slots_; s += W) {
      const std::int32_t key = keys_[s];
      const unsigned mask = masks_[s];
      Team::sync();
      // The places up to this thread's were read already, and no more blocks were found than that.
      if (key != kFree) {
        const int place = atomicAdd(counters_, 1);
        keys_[place] = key;
        masks_[place] = mask;
      }
    }
    Team::sync();
    const int count = counters_[0];
    int padded = 1;
    while (padded < Team::largest(count)) padded *= 2;
    for (int s = count + Team::lane(); s < padded; s += W) {
      keys_[s] = std::numeric_limits<std::int32_t>::max();
    }
    Team::sync();
    for (int size = 2; size <= padded; size *= 2) {
      for (int step = size / 2; step > 0; step /= 2) exchange(padded, size, step);
    }
    return count;
  }

  __device__ std::int32_t key(int place) const { return keys_[place]; }
  __device__ unsigned mask(int place) const { return masks_[place]; }

 private:
  /// One step of a bitonic sort: Batcher, Sorting networks and their applications, AFIPS 1968.
  __device__ void exchange(int padded, int size, int step) {
    for (int t = Team::lane(); t < padded / 2; t += W) {
      const int low = 2 * t - (t & (step - 1));
      const int high = low + step;
      const bool ascending = (low & size) == 0;
      const std::int32_t a = keys_[low];
      const std::int32_t b = keys_[high];
      if ((a > b) == ascending) {
        keys_[low] = b;
        keys_[high] = a;
        const unsigned mask = masks_[low];
        masks_[low] = masks_[high];
        masks_[high] = mask;
      }
    }
    Team::sync();
  }

  int slots_;
  std::int32_t* keys_;
  unsigned* masks_;
  int* counters_;
};

/// Calls work<Table, W>(slots) for the table and the W threads of a row in this bin.
template <class Work>
__host__ __device__ void with_table_of(int bin, Index cols, const Work& work) {
  const int all = static_cast<int>(blocks_of(cols));
  if (bin == kMasksOfWarp) {
    work.template operator()<BlockMasks, kWarp>(all);
  } else if (bin == kMasksOfBlock) {
    work.template operator()<BlockMasks, kThreads>(all);
  } else if (bin <= kNarrow) {
    work.template operator()<BlockTable, kNarrowLanes>(slots_of(bin));
  } else if (bin <= kWarpBins) {
    work.template operator()<BlockTable, kWarp>(slots_of(bin));
  } else {
    work.template operator()<BlockTable, kThreads>(slots_of(bin));
  }
}

/// Counts row rows[number] of C per team, if number < count. `memory`: that of the thread block's
/// tables.
template <template <int> class Table, int W>
__device__ void count_row(char* memory, const PatternFactors& factors, const std::int32_t* rows,
                          Index number, Index count, int slots, const RowSizes& sizes) {
  using Team = RowTeam<W>;
  const bool is_row = number < count;
  const Index row = is_row ? rows[number] : 0;
  Table<W> table(memory + static_cast<std::size_t>(Team::in_block()) * Table<W>::bytes(slots, 0),
                 slots);
  table.enter_row(factors, row, is_row);
  int entries = 0;
  int blocks = 0;
  table.count(entries, blocks);
  if (is_row && Team::lane() == 0) {
    sizes.entries[row] = entries;
    sizes.blocks[row] = blocks;
  }
}

}  // namespace heddle::detail
