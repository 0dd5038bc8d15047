#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/long_rows/long_rows.cuh>
#include <heddle/spgemm/cuda/pattern/pattern.hpp>
#include <heddle/spgemm/cuda/pattern/pattern_tables.cuh>
#include <heddle/spgemm/cuda/rows/repeated_rows.cuh>
#include <heddle/spgemm/cuda/rows/row_bins.cuh>
#include <heddle/spgemm/cuda/teams/launch_group.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

namespace heddle::detail {
namespace {

/// Rows of A of up to this many entries on average are looked at by one thread each.
constexpr Index kShortRow = 12;

/// Columns per thread that `fill_rows` collects before it writes them.
constexpr int kStaged = 8;

/// Thread blocks per multiprocessor for which registers are left.
constexpr int kBlocks = 4;

/// The bins of `launch_bins`.
constexpr int kLongestFirst[] = {kMasksOfBlock, 8, 7, 6, kMasksOfWarp, 5, 4, 3, 2, 1, 0};

/// Teams of threads look at the leading rows of runs. All rows of a run have the multiplications of
/// the first one.
template <int W>
__global__ void bin_kernel(PatternFactors factors, const std::int64_t* rows_of_B,
                           const std::int32_t* blocks_of_B, Runs runs, std::int32_t* bins,
                           BinCounts* counts) {
  using Team = RowTeam<W>;
  __shared__ unsigned shared[kMostBins];
  BlockCounts here(shared);
  const Index teams = thread_count() / W;
  for (Index i = Team::number(); Team::any(i < factors.rows); i += teams) {
    const bool is_row = i < factors.rows;
    const bool leads = is_row && runs.leads(i);
    const RowWork work = work_of_row<W>(factors, rows_of_B, blocks_of_B, i, leads);
    here.longest = work.longest > here.longest ? work.longest : here.longest;
    if (!is_row || Team::lane() != 0) continue;
    bins[i] = leads ? bin_of_bound(work.blocks, factors.cols) : kPatternBins;
    if (!leads) continue;
    here.count(bins[i]);
    const Index length = runs.count_from(i, kMostRowsOfRun);
    here.multiplications += work.products * length;
    here.leading_products += work.products;
    here.leading_blocks += work.blocks;
  }
  here.flush(counts);
}

extern __shared__ __align__(16) char shared_memory[];

/// The thread blocks of one launch: those of several bins, one bin after the other.
struct BinBlocks {
  int bins = 0;
  int bin[kPatternBins];
  Index end[kPatternBins];                 ///< the block after the last one of the bin
  const std::int32_t* rows[kPatternBins];  ///< of the bin
  Index count[kPatternBins];

  /// The bin of this thread block, and the number of the block in it.
  __device__ int part(Index& block) const {
    int part = 0;
    while (Index{blockIdx.x} >= end[part]) ++part;
    block = Index{blockIdx.x} - (part > 0 ? end[part - 1] : 0);
    return part;
  }
};

__global__ __launch_bounds__(kThreads, kBlocks) void count_kernel(PatternFactors factors,
                                                                  BinBlocks bins, RowSizes sizes) {
  const BesideOthers beside;
  Index block = 0;
  const int part = bins.part(block);
  const auto count = [&]<template <int> class Table, int W>(int slots) {
    const Index number = block * (kThreads / W) + RowTeam<W>::in_block();
    count_row<Table, W>(shared_memory, factors, bins.rows[part], number, bins.count[part], slots,
                        sizes);
  };
  with_table_of(bins.bin[part], factors.cols, count);
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

/// Writes the columns of row rows[number] of C per team, if number < count.
template <template <int> class Table, int W>
__device__ void fill_row(const PatternFactors& factors, const std::int32_t* rows, Index number,
                         Index count, int slots, const std::int64_t* row_offsets,
                         std::int32_t* columns) {
  using Team = RowTeam<W>;
  const bool is_row = number < count;
  const Index row = is_row ? rows[number] : 0;
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

__global__ __launch_bounds__(kThreads, kBlocks) void fill_kernel(PatternFactors factors,
                                                                 BinBlocks bins,
                                                                 const std::int64_t* row_offsets,
                                                                 std::int32_t* columns) {
  const BesideOthers beside;
  Index block = 0;
  const int part = bins.part(block);
  const auto fill = [&]<template <int> class Table, int W>(int slots) {
    const Index number = block * (kThreads / W) + RowTeam<W>::in_block();
    fill_row<Table, W>(factors, bins.rows[part], number, bins.count[part], slots, row_offsets,
                       columns);
  };
  with_table_of(bins.bin[part], factors.cols, fill);
}

/// Calls launch(blocks, bytes) for all bins but that of long rows. The bins with few rows
/// share a launch, in which the longest rows begin first. Others are launched on their own, so that
/// larger tables take no shared memory from them. `staged`: columns per thread in addition to the
/// table.
template <class Launch>
void launch_bins(CudaContext& context, const RowBins& rows, Index cols, int staged,
                 const Launch& launch) {
  constexpr Index kWaves = 4;
  BinBlocks few;
  std::size_t bytes_of_few = 0;
  for (const int bin : kLongestFirst) {
    if (rows.count(bin) == 0) continue;
    std::size_t bytes = 0;
    Index rows_per_block = 0;
    with_table_of(bin, cols, [&]<template <int> class Table, int W>(int slots) {
      rows_per_block = kThreads / W;
      bytes = Table<W>::bytes(slots, W * staged) * static_cast<std::size_t>(rows_per_block);
    });
    BinBlocks alone;
    const bool is_alone =
        rows.count(bin) * kThreads > kWaves * context.device().resident_threads() * rows_per_block;
    BinBlocks& blocks = is_alone ? alone : few;
    const int part = blocks.bins++;
    blocks.bin[part] = bin;
    blocks.rows[part] = rows.first(bin);
    blocks.count[part] = rows.count(bin);
    blocks.end[part] =
        (part > 0 ? blocks.end[part - 1] : 0) + ceil_div(rows.count(bin), rows_per_block);
    if (is_alone) {
      launch(alone, bytes);
    } else {
      bytes_of_few = std::max(bytes_of_few, bytes);
    }
  }
  if (few.bins > 0) launch(few, bytes_of_few);
}

}  // namespace

RowBins bin_by_bound(CudaContext& context, const PatternFactors& factors,
                     const std::int64_t* rows_of_B, const DeviceIntegers& blocks_of_B,
                     const RunPlaces& places, BinCounts& counts) {
  DeviceIntegers bins(context, static_cast<std::size_t>(factors.rows));
  Buffer<BinCounts, DeviceSpace> counted = no_counts(context);
  const auto launch = [&]<int W>(std::integral_constant<int, W>) {
    bin_kernel<W><<<grid_for(context, factors.rows * W), kThreads, 0, context.stream()>>>(
        factors, rows_of_B, blocks_of_B.data(), runs_of(places), bins.data(), counted.data());
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
  LaunchGroup group(context.stream());
  count_long_rows(group, factors, bins.first(kLongPattern), bins.count(kLongPattern), sizes);
  launch_bins(context, bins, factors.cols, 0, [&](const BinBlocks& blocks, std::size_t bytes) {
    group.launch<kThreads>(count_kernel, blocks.end[blocks.bins - 1], kThreads, bytes, factors,
                           blocks, sizes);
  });
}

void fill_rows(CudaContext& context, const PatternFactors& factors, const RowBins& bins,
               const std::int64_t* row_offsets, std::int32_t* columns) {
  LaunchGroup group(context.stream());
  fill_long_rows(group, factors, bins.first(kLongPattern), bins.count(kLongPattern), row_offsets,
                 columns);
  launch_bins(context, bins, factors.cols, kStaged,
              [&](const BinBlocks& blocks, std::size_t bytes) {
                group.launch<kThreads>(fill_kernel, blocks.end[blocks.bins - 1], kThreads, bytes,
                                       factors, blocks, row_offsets, columns);
              });
}

}  // namespace heddle::detail
