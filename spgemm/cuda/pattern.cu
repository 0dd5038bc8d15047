#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/pattern.hpp>
#include <heddle/spgemm/cuda/row_bins.cuh>
#include <heddle/spgemm/cuda/row_team.cuh>
#include <limits>

namespace heddle::detail {
namespace {

/// The places of the tables of bin 0, doubled per bin.
constexpr int kLeastSlots = 32;

/// Tables of bins up to these belong to 8 lanes and to a warp, the larger ones to a thread block.
constexpr int kNarrow = 1;
constexpr int kWarpBins = 5;
constexpr int kNarrowLanes = 8;

/// Rows of A of up to this many entries on average are looked at by one thread each.
constexpr Index kShortRow = 12;

/// Columns per thread that `fill_rows` collects before it writes them.
constexpr int kStaged = 8;

/// Threads of a block whose teams are at most a warp.
constexpr int kTeamThreads = 128;

constexpr int slots_of(int bin) { return kLeastSlots << bin; }

__host__ __device__ constexpr Index blocks_of(Index cols) {
  return (cols + kBlockColumns - 1) / kBlockColumns;
}

/// Rows with more blocks of B to enter than this have a thread block.
constexpr Index kMostForWarp = 1024;

/// A table is at most three quarters full. Where a mask per block of columns takes no more memory
/// than its keys and masks, there is no table to search and to sort.
__device__ int bin_of_bound(Index blocks, Index cols) {
  const Index all = blocks_of(cols);
  const Index bound = blocks < all ? blocks : all;
  int bin = 0;
  while (bin < kTables && bound * 4 > Index{slots_of(bin)} * 3) ++bin;
  if (bin == kTables || all > 2 * slots_of(bin)) return bin;
  const bool for_warp = blocks <= kMostForWarp && all <= 2 * slots_of(kWarpBins);
  return for_warp ? kMasksOfWarp : kMasksOfBlock;
}

/// Teams of threads look at the leading rows of runs. All rows of a run have the multiplications of
/// the first one.
template <int W>
__global__ void bin_kernel(PatternFactors factors, const std::int64_t* rows_of_B,
                           const std::int32_t* blocks_of_B, const std::int32_t* leaders,
                           std::int32_t* bins, BinCounts* counts) {
  using Team = RowTeam<W>;
  __shared__ unsigned shared[kMostBins];
  BlockCounts here(shared);
  const Index teams = thread_count() / W;
  for (Index i = Team::number(); Team::any(i < factors.rows); i += teams) {
    const bool is_row = i < factors.rows;
    const bool leads = is_row && leaders[i] == i;
    const Index end = leads ? factors.row_offsets[i + 1] : 0;
    Index blocks = 0;
    Index products = 0;
    for (Index a = leads ? factors.row_offsets[i] + Team::lane() : 0; a < end; a += W) {
      const std::int32_t k = factors.columns[a];
      const Index length = rows_of_B[k + 1] - rows_of_B[k];
      blocks += blocks_of_B[k];
      products += length;
      here.longest = length > here.longest ? length : here.longest;
    }
    __syncwarp();
    blocks = lane_sum<W>(blocks);
    products = lane_sum<W>(products);
    if (!is_row || Team::lane() != 0) continue;
    bins[i] = leads ? bin_of_bound(blocks, factors.cols) : kPatternBins;
    if (!leads) continue;
    here.count(bins[i]);
    const Index length = count_below(leaders + i, factors.rows - i, static_cast<Index>(i) + 1);
    here.multiplications += products * length;
    here.leading_products += products;
    here.leading_blocks += blocks;
  }
  here.flush(counts);
}

/// Calls enter(key, mask) for the blocks of the rows of B that row `row` of C is a sum of.
template <int W, class Enter>
__device__ void for_each_block(const PatternFactors& factors, Index row, const Enter& enter) {
  using Team = RowTeam<W>;
  const int width = factors.lanes;
  const BlockRowsView& B = factors.B;
  const Index last = factors.row_offsets[row + 1];
  for (Index a = factors.row_offsets[row] + Team::lane() / width; a < last; a += W / width) {
    const std::int32_t k = factors.columns[a];
    const Index end = B.offsets[k + 1];
    for (Index e = B.offsets[k] + Team::lane() % width; e < end; e += width) {
      const std::int32_t entry = B.keys[e];
      if (B.masks != nullptr) {
        enter(entry, B.masks[e]);
      } else {
        enter(block_of(entry), bit_of(entry));
      }
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
    return static_cast<std::size_t>(kCounters + blocks + staged) * sizeof(std::int32_t);
  }
  __device__ std::int32_t* stage() { return reinterpret_cast<std::int32_t*>(masks_ + blocks_); }

  __device__ void enter_row(const PatternFactors& factors, Index row, bool is_row) {
    for (int b = Team::lane(); b < blocks_; b += W) masks_[b] = 0;
    if (Team::lane() < 2) counters_[Team::lane()] = 0;
    Team::sync();
    if (is_row) {
      for_each_block<W>(factors, row,
                        [this](std::int32_t key, unsigned mask) { atomicOr(masks_ + key, mask); });
    }
    Team::sync();
  }

  /// The entries and the blocks of the row, for all threads of the team.
  __device__ void count(int& entries, int& blocks) {
    int mine = 0;
    int found = 0;
    for (int b = Team::lane(); b < blocks_; b += W) {
      mine += __popc(masks_[b]);
      found += masks_[b] != 0 ? 1 : 0;
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
    if (is_row) {
      for_each_block<W>(factors, row, [this](std::int32_t key, unsigned mask) {
        atomicOr(masks_ + enter_key(keys_, static_cast<unsigned>(slots_), key), mask);
      });
    }
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

extern __shared__ __align__(16) char shared_memory[];

template <template <int> class Table, int W>
__global__ void count_kernel(PatternFactors factors, const std::int32_t* rows, Index count,
                             int slots, RowSizes sizes) {
  using Team = RowTeam<W>;
  const bool is_row = Team::number() < count;
  const Index row = is_row ? rows[Team::number()] : 0;
  Table<W> table(
      shared_memory + static_cast<std::size_t>(Team::in_block()) * Table<W>::bytes(slots, 0),
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

/// Writes the columns of W blocks, one per thread, from `target` on, in order. `stage` is memory
/// for W·kStaged columns. Returns their number.
template <int W>
__device__ int write_blocks(std::int32_t key, unsigned mask, std::int32_t* stage,
                            std::int32_t* target) {
  using Team = RowTeam<W>;
  constexpr int kWindow = W * kStaged;
  int total = 0;
  int place = Team::scan(__popc(mask), total);
  for (int window = 0; Team::any(window < total); window += kWindow) {
    for (; mask != 0 && place < window + kWindow; ++place, mask &= mask - 1) {
      stage[place - window] = key * kBlockColumns + __ffs(static_cast<int>(mask)) - 1;
    }
    Team::sync();
    const int staged = total - window < kWindow ? total - window : kWindow;
    for (int t = Team::lane(); t < staged; t += W) target[window + t] = stage[t];
    Team::sync();
  }
  return total;
}

template <template <int> class Table, int W>
__global__ void fill_kernel(PatternFactors factors, const std::int32_t* rows, Index count,
                            int slots, const std::int64_t* row_offsets, std::int32_t* columns) {
  using Team = RowTeam<W>;
  const bool is_row = Team::number() < count;
  const Index row = is_row ? rows[Team::number()] : 0;
  constexpr int kStage = W * kStaged;
  Table<W> table(
      shared_memory + static_cast<std::size_t>(Team::in_block()) * Table<W>::bytes(slots, kStage),
      slots);
  table.enter_row(factors, row, is_row);
  const int blocks = table.sort();
  std::int32_t* target = columns + row_offsets[row];
  for (int b = 0; Team::any(b < blocks); b += W) {
    const int mine = b + Team::lane();
    const bool is_block = mine < blocks;
    target += write_blocks<W>(is_block ? table.key(mine) : 0, is_block ? table.mask(mine) : 0,
                              table.stage(), target);
  }
}

/// How the rows of a bin are computed.
template <template <int> class RowTable, int Width>
struct TeamOf {
  template <int W>
  using Table = RowTable<W>;
  static constexpr int W = Width;
  static constexpr int kBlock = W <= kWarp ? kTeamThreads : W;
};

/// Calls launch(TeamOf, slots) for a bin.
template <class Launch>
void with_team_of(int bin, Index cols, const Launch& launch) {
  if (bin == kMasksOfWarp) {
    launch(TeamOf<BlockMasks, kWarp>{}, static_cast<int>(blocks_of(cols)));
  } else if (bin == kMasksOfBlock) {
    launch(TeamOf<BlockMasks, kThreads>{}, static_cast<int>(blocks_of(cols)));
  } else if (bin <= kNarrow) {
    launch(TeamOf<BlockTable, kNarrowLanes>{}, slots_of(bin));
  } else if (bin <= kWarpBins) {
    launch(TeamOf<BlockTable, kWarp>{}, slots_of(bin));
  } else {
    launch(TeamOf<BlockTable, kThreads>{}, slots_of(bin));
  }
}

/// The factors for a team of W threads: no more lanes per row of B than threads.
PatternFactors for_team(PatternFactors factors, int W) {
  factors.lanes = std::min(factors.lanes, W);
  return factors;
}

}  // namespace

RowBins bin_by_bound(CudaContext& context, const PatternFactors& factors,
                     const std::int64_t* rows_of_B, const DeviceIntegers& blocks_of_B,
                     const DeviceIntegers& leaders, BinCounts& counts) {
  DeviceIntegers bins(context, static_cast<std::size_t>(factors.rows));
  Buffer<BinCounts, DeviceSpace> counted = no_counts(context);
  const auto launch = [&]<int W>(std::integral_constant<int, W>) {
    bin_kernel<W><<<grid_for(context, factors.rows * W), kThreads, 0, context.stream()>>>(
        factors, rows_of_B, blocks_of_B.data(), leaders.data(), bins.data(), counted.data());
    check_launch();
  };
  if (factors.entries <= kShortRow * factors.rows) {
    launch(std::integral_constant<int, 1>{});
  } else {
    launch(std::integral_constant<int, kNarrowLanes>{});
  }
  return collect_bins(context, bins, kPatternBins, counted, counts);
}

void count_rows(CudaContext& context, const PatternFactors& factors, const RowBins& bins,
                const RowSizes& sizes) {
  for (int bin = 0; bin < kPatternBins; ++bin) {
    if (bin == kLongPattern || bins.count(bin) == 0) continue;
    with_team_of(bin, factors.cols, [&]<class Team>(Team, int slots) {
      using Table = typename Team::template Table<Team::W>;
      launch_teams<Team::W>(context.stream(), count_kernel<Team::template Table, Team::W>,
                            bins.count(bin), Team::kBlock, Table::bytes(slots, 0),
                            for_team(factors, Team::W), bins.first(bin), bins.count(bin), slots,
                            sizes);
    });
  }
  count_long_rows(context, factors, bins.first(kLongPattern), bins.count(kLongPattern), sizes);
}

void fill_rows(CudaContext& context, const PatternFactors& factors, const RowBins& bins,
               const std::int64_t* row_offsets, std::int32_t* columns) {
  for (int bin = 0; bin < kPatternBins; ++bin) {
    if (bin == kLongPattern || bins.count(bin) == 0) continue;
    with_team_of(bin, factors.cols, [&]<class Team>(Team, int slots) {
      using Table = typename Team::template Table<Team::W>;
      launch_teams<Team::W>(context.stream(), fill_kernel<Team::template Table, Team::W>,
                            bins.count(bin), Team::kBlock, Table::bytes(slots, Team::W * kStaged),
                            for_team(factors, Team::W), bins.first(bin), bins.count(bin), slots,
                            row_offsets, columns);
    });
  }
  fill_long_rows(context, factors, bins.first(kLongPattern), bins.count(kLongPattern), row_offsets,
                 columns);
}

}  // namespace heddle::detail
