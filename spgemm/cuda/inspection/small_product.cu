#include <cooperative_groups.h>

#include <cub/block/block_reduce.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/inspection/small_product.hpp>
#include <heddle/spgemm/cuda/pattern/pattern_tables.cuh>
#include <heddle/spgemm/cuda/rows/block_rows.cuh>
#include <heddle/spgemm/cuda/rows/repeated_rows.cuh>
#include <heddle/spgemm/cuda/rows/row_bins.cuh>
#include <heddle/spgemm/cuda/values/value_bins.cuh>
#include <heddle/spgemm/cuda/values/values.hpp>

namespace heddle::detail {
namespace {

/// Lanes that look at a row before its table is known.
constexpr int kLanes = 8;

/// Thread blocks per multiprocessor for which registers are left.
constexpr int kLeastBlocks = 3;

/// The most blocks or columns of B to enter for the leading rows. For more, launches for each bin,
/// which hold more threads at a time, are faster.
constexpr unsigned long long kMostToEnter = 1ULL << 24;

/// The counts of all bins, fetched together.
struct SmallCounts {
  BinCounts pattern;
  BinCounts values;
};

/// Whether the rows of B are read by blocks, and whether all is counted here.
struct PatternChoice {
  bool by_blocks;
  bool counts_here;

  __host__ __device__ explicit PatternChoice(const BinCounts& counts)
      : by_blocks(blocks_pay(static_cast<Index>(counts.leading_products),
                             static_cast<Index>(counts.leading_blocks))),
        counts_here((by_blocks ? counts.leading_blocks : counts.leading_products) <= kMostToEnter) {
  }
};

/// A product and what its inspection finds and remembers, in device memory.
template <class T>
struct SmallProduct {
  CsrView<T, DeviceSpace> A;
  CsrView<T, DeviceSpace> B;
  PatternFactors factors;
  int chunks = 1;  ///< per strip

  std::int64_t* row_offsets = nullptr;
  RunPlace* places = nullptr;
  std::int32_t* pattern_rows = nullptr;
  std::int32_t* value_rows = nullptr;

  SmallCounts* counts = nullptr;          ///< all 0 at first
  unsigned* repeats = nullptr;            ///< a bit per row of A, all 0 at first
  unsigned char* repeats_in_B = nullptr;  ///< see `row_repeats`
  ColumnBlock* blocks_of_B = nullptr;     ///< see `write_blocks`
  std::int32_t* block_counts = nullptr;   ///< of rows of B
  std::int32_t* bins = nullptr;           ///< per row of C, of the phase at hand
  RowSizes sizes{};                       ///< of leading rows
  Index* sums = nullptr;                  ///< entries of C per slice of rows

  __device__ Runs runs() const { return {places, A.rows}; }
};

/// A thread block's slice of the rows of C.
struct RowSlice {
  Index first;
  Index end;

  __device__ explicit RowSlice(Index rows) {
    const Index height = (rows + gridDim.x - 1) / gridDim.x;
    first = height * blockIdx.x;
    end = first + height < rows ? first + height : rows;
  }
};

/// Calls look<W>(i) for all rows of M, with W lanes for a row: few, or a warp for a long row, which
/// would hold up all others. i ≥ M.rows for lanes without a row.
template <class T, class Look>
__device__ void for_each_row(const CsrView<T, DeviceSpace>& M, const Look& look) {
  using Team = RowTeam<kLanes>;
  constexpr Index kLongRow = 64;
  for (Index i = Team::number(); Team::any(i < M.rows); i += thread_count() / kLanes) {
    const bool is_long = i < M.rows && M.row_offsets[i + 1] - M.row_offsets[i] > kLongRow;
    look.template operator()<kLanes>(is_long ? M.rows : i);
    unsigned left = __ballot_sync(kAllLanes, is_long && Team::lane() == 0);
    for (; left != 0; left &= left - 1) {
      const int lane = __ffs(static_cast<int>(left)) - 1;
      look.template operator()<kWarp>(__shfl_sync(kAllLanes, i, lane));
    }
  }
}

template <class T>
__device__ void look_at_B(const SmallProduct<T>& product) {
  const CsrView<T, DeviceSpace>& B = product.B;
  for_each_row(B, [&]<int W>(Index k) {
    const bool repeats = row_repeats<W>(B, k, nullptr);
    const int blocks = blocks_of_row<W>(B, k);
    if (k >= B.rows || RowTeam<W>::lane() != 0) return;
    product.repeats_in_B[k] = repeats ? 1 : 0;
    product.block_counts[k] = blocks;
  });
}

/// Finds the rows that repeat the row before, and the bins of the others for their patterns.
template <class T>
__device__ void look_at_A(const SmallProduct<T>& product, unsigned* shared) {
  BlockCounts here(shared);
  const Index rows = product.A.rows;
  for_each_row(product.A, [&]<int W>(Index i) {
    const bool repeats = row_repeats<W>(product.A, i, product.repeats_in_B);
    const RowWork work =
        work_of_row<W>(product.factors, product.B.row_offsets, product.block_counts, i, i < rows);
    here.longest = work.longest > here.longest ? work.longest : here.longest;
    if (i >= rows || RowTeam<W>::lane() != 0) return;
    here.multiplications += work.products;
    if (repeats) {
      atomicOr(product.repeats + i / kWarp, 1U << (i % kWarp));
      product.bins[i] = kPatternBins;
    } else {
      product.bins[i] = bin_of_bound(work.blocks, product.factors.cols);
      here.count(product.bins[i]);
      here.leading_products += work.products;
      here.leading_blocks += work.blocks;
    }
  });
  here.flush(&product.counts->pattern);
}

/// The last row before row `first`, a multiple of kWarp, that does not repeat the row before it. A
/// warp looks at 32 words of 32 rows at a time. Row 0 repeats none.
__device__ std::int32_t leader_before(const unsigned* repeats, Index first) {
  for (Index end = first / kWarp;; end -= kWarp) {
    const Index word = end - kWarp + lane_index();
    const unsigned leads = word >= 0 ? ~repeats[word] : 0;
    const unsigned found = __ballot_sync(kAllLanes, leads != 0);
    if (found == 0) continue;
    const int last = kWarp - 1 - __clz(static_cast<int>(found));
    const unsigned mask = __shfl_sync(kAllLanes, leads, last);
    const Index row = (end - kWarp + last) * kWarp + kWarp - 1 - __clz(static_cast<int>(mask));
    return static_cast<std::int32_t>(row);
  }
}

/// The place of each row in its run. A word of 32 rows per warp.
template <class T>
__device__ void find_places(const SmallProduct<T>& product) {
  const Index rows = product.A.rows;
  const int lane = lane_index();
  for (Index first = thread_index() - lane; first < rows; first += thread_count()) {
    const unsigned leads = ~product.repeats[first / kWarp];
    std::int32_t before = 0;
    if ((leads & 1U) == 0) before = leader_before(product.repeats, first);
    const unsigned up_to_here = leads & (kAllLanes >> (kWarp - 1 - lane));
    if (first + lane >= rows) continue;
    const int place = kWarp - 1 - __clz(static_cast<int>(up_to_here));
    const Index leader = up_to_here != 0 ? first + place : before;
    product.places[first + lane] = static_cast<RunPlace>(first + lane - leader);
  }
}

/// Writes the blocks of B if they are read. Their counts are known.
template <class T>
__device__ void write_blocks_of_B(const SmallProduct<T>& product) {
  if (!PatternChoice(product.counts->pattern).by_blocks) return;
  const CsrView<T, DeviceSpace>& B = product.B;
  for_each_row(B, [&]<int W>(Index k) {
    const Index place = k < B.rows ? B.row_offsets[k] - B.row_offsets[0] : 0;
    write_blocks_of_row<W>(B, k, product.blocks_of_B + place);
  });
}

/// The sizes of the leading rows, those that need a thread block first. Larger tables than those of
/// a warp have no rows here, because masks of all columns take less memory.
template <class T>
__device__ void count_leading_rows(const SmallProduct<T>& product, char* memory) {
  const BinCounts& counts = product.counts->pattern;
  PatternFactors factors = product.factors;
  if (PatternChoice(counts).by_blocks) {
    factors.B.counts = product.block_counts;
    factors.B.blocks = product.blocks_of_B;
  }
  const int all = static_cast<int>(blocks_of(factors.cols));
  const auto count_bin = [&]<template <int> class Table, int W>(int bin, int slots) {
    const auto count = static_cast<Index>(counts.rows[bin]);
    if (count == 0) return;
    const std::int32_t* rows = product.pattern_rows;
    for (int b = 0; b < bin; ++b) rows += counts.rows[b];
    using Team = RowTeam<W>;
    const Index teams = Index{gridDim.x} * (kThreads / W);
    for (Index number = Team::number(); Team::any(number < count); number += teams) {
      count_row<Table, W>(memory, factors, rows, number, count, slots, product.sizes);
      Team::sync();
    }
    __syncthreads();
  };
  count_bin.template operator()<BlockMasks, kThreads>(kMasksOfBlock, all);
  count_bin.template operator()<BlockMasks, kWarp>(kMasksOfWarp, all);
  for (int bin = kWarpBins; bin > kNarrow; --bin) {
    count_bin.template operator()<BlockTable, kWarp>(bin, slots_of(bin));
  }
  for (int bin = kNarrow; bin >= 0; --bin) {
    count_bin.template operator()<BlockTable, kNarrowLanes>(bin, slots_of(bin));
  }
}

/// The bins of a slice of rows for their values, and the number of their entries.
template <class T>
__device__ void look_at_C(const SmallProduct<T>& product, unsigned* shared) {
  BlockCounts here(shared);
  const Runs runs = product.runs();
  const RowSlice slice(product.A.rows);
  Index sum = 0;
  for (Index i = slice.first + threadIdx.x; i < slice.end; i += kThreads) {
    const Index leader = runs.leader(i);
    const Index entries = product.sizes.entries[leader];
    const int bin = bin_of_row(product.A, product.B, runs, i, entries, product.sizes.blocks[leader],
                               product.chunks);
    product.bins[i] = bin;
    if (bin < kValueBins) here.count(bin);
    sum += entries;
  }
  here.flush(&product.counts->values);
  using Reduce = cub::BlockReduce<Index, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const Index total = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) product.sums[blockIdx.x] = total;
}

/// The row offsets of a slice of rows.
template <class T>
__device__ void write_offsets(const SmallProduct<T>& product) {
  using Reduce = cub::BlockReduce<Index, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ Index before;
  Index sum = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += kThreads) sum += product.sums[b];
  const Index total = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) before = total;
  __syncthreads();
  const Index rows = product.A.rows;
  const RowSlice slice(rows);
  Index offset = before;
  for (Index first = slice.first; first < slice.end; first += kThreads) {
    const Index i = first + threadIdx.x;
    int entries = 0;
    if (i < slice.end) {
      entries = static_cast<int>(product.sizes.entries[i - product.places[i]]);
    }
    int added = 0;
    const int place = RowTeam<kThreads>::scan(entries, added);
    if (i < slice.end) product.row_offsets[i] = offset + place;
    offset += added;
  }
  if (threadIdx.x == 0 && slice.first < rows && slice.end == rows) {
    product.row_offsets[rows] = offset;
    product.counts->values.entries = static_cast<unsigned long long>(offset);
  }
}

extern __shared__ __align__(16) char shared_memory[];

/// All thread blocks run at once and wait for each other after each step.
template <class T>
__global__ __launch_bounds__(kThreads, kLeastBlocks) void inspect_kernel(SmallProduct<T> product) {
  __shared__ unsigned shared[kMostBins];
  const auto all = cooperative_groups::this_grid();
  const Index rows = product.A.rows;
  look_at_B(product);
  all.sync();
  look_at_A(product, shared);
  all.sync();
  write_blocks_of_B(product);
  find_places(product);
  collect_rows(product.bins, rows, kPatternBins, &product.counts->pattern, product.pattern_rows);
  if (!PatternChoice(product.counts->pattern).counts_here) return;
  all.sync();
  count_leading_rows(product, shared_memory);
  all.sync();
  look_at_C(product, shared);
  all.sync();
  write_offsets(product);
  collect_rows(product.bins, rows, kValueBins, &product.counts->values, product.value_rows);
}

/// The shared memory of a thread block for its tables.
std::size_t table_bytes_per_block(Index cols) {
  const int all = static_cast<int>(blocks_of(cols));
  constexpr int kWarps = kThreads / kWarp;
  const std::size_t narrow =
      kThreads / kNarrowLanes * BlockTable<kNarrowLanes>::bytes(slots_of(kNarrow), 0);
  return std::max(narrow, kWarps * BlockMasks<kWarp>::bytes(all, 0));
}

/// Parts of one allocation, one after the other.
class Parts {
 public:
  template <class Item>
  std::size_t add(Index count) {
    constexpr std::size_t kAlignment = 256;
    const std::size_t begin = bytes_;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Item);
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return begin;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// Lays out what an inspection remembers, and clears what must be 0. Returns the memory.
template <class T>
Buffer<char, DeviceSpace> lay_out(CudaContext& context, Index blocks, SmallProduct<T>& product) {
  const Index rows = product.A.rows;
  Parts parts;
  const std::size_t counts = parts.add<SmallCounts>(1);
  const std::size_t repeats = parts.add<unsigned>(ceil_div<Index>(rows, kWarp));
  const std::size_t cleared = parts.bytes();
  const std::size_t repeats_in_B = parts.add<unsigned char>(product.B.rows);
  const std::size_t bins = parts.add<std::int32_t>(rows);
  const std::size_t entries = parts.add<Index>(rows);
  const std::size_t row_blocks = parts.add<std::int32_t>(rows);
  const std::size_t sums = parts.add<Index>(blocks);
  Buffer<char, DeviceSpace> memory(context, parts.bytes());
  char* const base = memory.data();
  check(cudaMemsetAsync(base, 0, cleared, context.stream()));
  product.counts = reinterpret_cast<SmallCounts*>(base + counts);
  product.repeats = reinterpret_cast<unsigned*>(base + repeats);
  product.repeats_in_B = reinterpret_cast<unsigned char*>(base + repeats_in_B);
  product.bins = reinterpret_cast<std::int32_t*>(base + bins);
  product.sizes = {reinterpret_cast<Index*>(base + entries),
                   reinterpret_cast<std::int32_t*>(base + row_blocks)};
  product.sums = reinterpret_cast<Index*>(base + sums);
  return memory;
}

}  // namespace

template <Scalar T>
bool is_small_product(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B) {
  constexpr Index kMostRows = Index{1} << 16;
  constexpr Index kMostEntries = Index{1} << 21;
  return A.rows <= kMostRows && B.rows <= kMostRows && A.nnz <= kMostEntries &&
         B.nnz <= kMostEntries && blocks_of(B.cols) <= 2 * slots_of(kWarpBins);
}

template <Scalar T>
bool inspect_small_product(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                           const CsrView<T, DeviceSpace>& B, RowBlocks& blocks,
                           InspectedProduct& product) {
  const std::size_t bytes = table_bytes_per_block(B.cols);
  const void* const kernel = reinterpret_cast<const void*>(inspect_kernel<T>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)));
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kThreads, bytes));
  const Index useful =
      ceil_div(std::max({kLanes * A.rows, kLanes * B.rows, A.nnz}), Index{kThreads});
  const Index grid = std::min<Index>(Index{resident} * context.device().multiprocessors, useful);

  const auto rows = static_cast<std::size_t>(A.rows);
  product.row_offsets = {context, rows + 1};
  product.places = {context, rows};
  product.pattern_rows.rows = {context, rows};
  product.value_rows.rows = {context, rows};
  blocks.blocks = {context, static_cast<std::size_t>(B.nnz)};
  blocks.counts = {context, static_cast<std::size_t>(B.rows)};
  SmallProduct<T> small{.A = A,
                        .B = B,
                        .factors = {.rows = A.rows,
                                    .cols = B.cols,
                                    .entries = A.nnz,
                                    .row_offsets = A.row_offsets,
                                    .columns = A.columns,
                                    .B = {.offsets = B.row_offsets, .columns = B.columns}},
                        .chunks = chunks_per_strip(context, A.rows),
                        .row_offsets = product.row_offsets.data(),
                        .places = product.places.data(),
                        .pattern_rows = product.pattern_rows.rows.data(),
                        .value_rows = product.value_rows.rows.data(),
                        .blocks_of_B = blocks.blocks.data(),
                        .block_counts = blocks.counts.data()};
  const Buffer<char, DeviceSpace> memory = lay_out(context, grid, small);
  void* arguments[] = {&small};
  check(cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(grid)), dim3(kThreads),
                                    arguments, bytes, context.stream()));
  SmallCounts counts{};
  context.copy_to_host(&counts, small.counts, sizeof counts);
  product.pattern_rows.divide(counts.pattern, kPatternBins);
  product.value_rows.divide(counts.values, kValueBins);
  product.set_counts(counts.pattern, A);
  product.entries = static_cast<Index>(counts.values.entries);
  return PatternChoice(counts.pattern).counts_here;
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template bool is_small_product(const CsrView<T, DeviceSpace>&, const CsrView<T, DeviceSpace>&); \
  template bool inspect_small_product(CudaContext&, const CsrView<T, DeviceSpace>&,               \
                                      const CsrView<T, DeviceSpace>&, RowBlocks&,                 \
                                      InspectedProduct&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
