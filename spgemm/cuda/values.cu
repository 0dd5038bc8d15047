#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/repeated_rows.cuh>
#include <heddle/spgemm/cuda/row_bins.cuh>
#include <heddle/spgemm/cuda/row_team.cuh>
#include <heddle/spgemm/cuda/values.hpp>
#include <heddle/spgemm/cuda/walk.cuh>

namespace heddle::detail {
namespace {

/// Bins of rows that a team sums in shared memory, by the bytes that it needs: 512, 1024 … 32768.
constexpr int kTableBins = 7;
__host__ __device__ constexpr int table_bytes(int bin) { return 512 << bin; }

/// The tables of matrices with fewer columns than kFewColumns end earlier: longer rows are then
/// summed faster by stretches of columns.
constexpr int kTableBinsOfFewColumns = 6;
constexpr Index kFewColumns = 1 << 18;

/// Bins of chunks of runs (see `find_run_leaders`), by the entries of a row of C: 8, 12, 16, 24 …
constexpr int kRunBins = 11;
__host__ __device__ constexpr int run_entries(int bin) {
  return ((bin % 2 == 0 ? 8 : 12) << (bin / 2));
}

constexpr int kFirstRunBin = kTableBins;
constexpr int kLongBin = kTableBins + kRunBins;
constexpr int kValueBins = kLongBin + 1;

/// A chunk of a run has one row per lane of a warp. With fewer rows than this it is no faster than
/// its rows one by one.
constexpr Index kLeastChunk = 12;

/// Threads of a block of teams, and the most shared memory that it should take.
constexpr int kTeamThreads = 128;
constexpr int kBlockBytes = 64 * 1024;

/// A place of the hash table of a row: a block of columns, the mask of its columns, and the number
/// of entries of the row before it.
struct alignas(16) Slot {
  std::int32_t key;
  unsigned mask;
  unsigned before;
  unsigned unused;
};

/// The bytes of a team's memory for a row of `entries` in `blocks` blocks. The table is at most
/// three quarters full.
__device__ Index bytes_needed(Index entries, Index blocks, int scalar_bytes) {
  Index slots = 2;
  while (blocks * 4 > slots * 3) slots *= 2;
  return slots * static_cast<Index>(sizeof(Slot)) + entries * scalar_bytes;
}

__device__ int bin_of_row(const std::int32_t* leaders, Index rows, Index i, Index entries,
                          std::int32_t leader_blocks, Index cols, int scalar_bytes) {
  if (entries == 0) return kValueBins;
  const Chunk chunk = chunk_of(leaders, rows, i);
  if (chunk.rows >= kLeastChunk && entries <= run_entries(kRunBins - 1)) {
    if (i != chunk.first) return kValueBins;
    int bin = 0;
    while (entries > run_entries(bin)) ++bin;
    return kFirstRunBin + bin;
  }
  // Moved by some columns, a block of the leading row may lie in two.
  const Index moved = leaders[i] == i ? Index{leader_blocks} : 2 * Index{leader_blocks};
  const Index bytes = bytes_needed(entries, moved < entries ? moved : entries, scalar_bytes);
  const int bins = cols < kFewColumns ? kTableBinsOfFewColumns : kTableBins;
  int bin = 0;
  while (bin < bins && bytes > table_bytes(bin)) ++bin;
  return bin < bins ? bin : kLongBin;
}

__global__ void bin_kernel(const std::int32_t* leaders, Index rows, const std::int64_t* row_offsets,
                           const std::int32_t* blocks, Index cols, int scalar_bytes,
                           std::int32_t* bins, BinCounts* counts) {
  __shared__ unsigned shared[kMostBins];
  BlockCounts here(shared);
  for (Index i = thread_index(); i < rows; i += thread_count()) {
    const int bin = bin_of_row(leaders, rows, i, row_offsets[i + 1] - row_offsets[i],
                               blocks[leaders[i]], cols, scalar_bytes);
    bins[i] = bin;
    if (bin < kValueBins) here.count(bin);
  }
  here.flush(counts);
}

extern __shared__ __align__(16) char shared_memory[];

/// The sums of one row of C in shared memory, in the order of its columns, and a hash table of its
/// blocks of columns that finds them.
template <class T, int W>
class TableOfRow {
 public:
  using Team = RowTeam<W>;

  /// Takes the largest table that fits beside the sums.
  __device__ TableOfRow(char* memory, int bytes, int entries)
      : slots_(reinterpret_cast<Slot*>(memory)), count_(2) {
    const auto left = static_cast<unsigned>(bytes - entries * static_cast<int>(sizeof(T)));
    while (count_ * 2 * sizeof(Slot) <= left) count_ *= 2;
    sums_ = reinterpret_cast<T*>(slots_ + count_);
  }

  __device__ T sum(int entry) const { return sums_[entry]; }

  __device__ void enter(const std::int32_t* columns, int entries) {
    for (unsigned s = Team::lane(); s < count_; s += W) slots_[s] = {kFree, 0, 0, 0};
    for (int j = Team::lane(); j < entries; j += W) sums_[j] = T{0};
    __syncwarp();
    for (int j = Team::lane(); j < entries; j += W) {
      const std::int32_t column = columns[j];
      Slot& slot = slots_[enter_key(block_of(column))];
      atomicOr(&slot.mask, bit_of(column));
      const bool is_first = j == 0 || block_of(columns[j - 1]) != block_of(column);
      if (is_first) slot.before = static_cast<unsigned>(j);
    }
    __syncwarp();
  }

  /// Adds the term to the sum of its column. A column that the row of C lacks is left out: then A
  /// or B has another pattern than the plan.
  __device__ void add(const Term<T>& term) {
    const std::int32_t key = block_of(term.column);
    unsigned place = first_place(key, count_);
    Slot slot = slots_[place];
    while (slot.key != key) {
      if (slot.key == kFree) return;
      place = (place + 1) & (count_ - 1);
      slot = slots_[place];
    }
    const unsigned bit = bit_of(term.column);
    if ((slot.mask & bit) == 0) return;
    sums_[slot.before + __popc(slot.mask & (bit - 1))] += term.factor * term.value;
  }

 private:
  __device__ unsigned enter_key(std::int32_t key) {
    unsigned place = first_place(key, count_);
    for (;;) {
      const std::int32_t found = atomicCAS(&slots_[place].key, kFree, key);
      if (found == kFree || found == key) return place;
      place = (place + 1) & (count_ - 1);
    }
  }

  Slot* slots_;
  unsigned count_;
  T* sums_;
};

/// One row of C per team of W lanes.
template <class T, int W>
__global__ void table_kernel(CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B,
                             const std::int32_t* rows, Index count, int bytes, ProductTarget<T> C) {
  using Team = RowTeam<W>;
  const bool is_row = Team::number() < count;
  const Index row = is_row ? rows[Team::number()] : 0;
  const Index begin = C.row_offsets[row];
  const int entries = is_row ? static_cast<int>(C.row_offsets[row + 1] - begin) : 0;
  TableOfRow<T, W> table(shared_memory + Team::in_block() * bytes, bytes, entries);
  table.enter(C.columns + begin, entries);
  const auto whole_row = [&B](std::int32_t k) {
    const Index from = B.row_offsets[k];
    return Segment{from, static_cast<int>(B.row_offsets[k + 1] - from)};
  };
  walk_terms<W>(A, B, is_row ? A.row_offsets[row] : 0, is_row ? A.row_offsets[row + 1] : 0,
                whole_row, [&table](const Term<T>& term) { table.add(term); });
  for (int j = Team::lane(); j < entries; j += W) C.values[begin + j] = table.sum(j);
}

template <int W, class T>
void compute_by_tables(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                       const CsrView<T, DeviceSpace>& B, const RowBins& bins,
                       const ProductTarget<T>& C) {
  for (int bin = 0; bin < kTableBins; ++bin) {
    const int bytes = table_bytes(bin);
    int threads = kTeamThreads;
    while (threads > kWarp && threads / W * bytes > kBlockBytes) threads /= 2;
    launch_teams<W>(context.stream(), table_kernel<T, W>, bins.count(bin), threads,
                    static_cast<std::size_t>(bytes), A, B, bins.first(bin), bins.count(bin), bytes,
                    C);
  }
}

}  // namespace

RowBins bin_by_size(CudaContext& context, const DeviceIntegers& leaders,
                    const std::int64_t* row_offsets, const std::int32_t* blocks, Index cols,
                    std::size_t scalar_bytes) {
  const auto rows = static_cast<Index>(leaders.size());
  DeviceIntegers bins(context, leaders.size());
  Buffer<BinCounts, DeviceSpace> counts = no_counts(context);
  bin_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(
      leaders.data(), rows, row_offsets, blocks, cols, static_cast<int>(scalar_bytes), bins.data(),
      counts.data());
  check_launch();
  BinCounts fetched{};
  return collect_bins(context, bins, kValueBins, counts, fetched);
}

template <Scalar T>
void compute_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                  const CsrView<T, DeviceSpace>& B, const RowBins& bins,
                  const DeviceIntegers& leaders, Index longest_of_B, const ProductTarget<T>& C) {
  constexpr Index kNarrow = 8;
  constexpr Index kMedium = 16;
  if (B.nnz <= kNarrow * B.rows) {
    compute_by_tables<kNarrow>(context, A, B, bins, C);
  } else if (B.nnz <= kMedium * B.rows) {
    compute_by_tables<kMedium>(context, A, B, bins, C);
  } else {
    compute_by_tables<kWarp>(context, A, B, bins, C);
  }
  for (int r = 0; r < kRunBins; ++r) {
    const int bin = kFirstRunBin + r;
    compute_runs(context, A, B, bins.first(bin), bins.count(bin), leaders, longest_of_B,
                 run_entries(r), C);
  }
  compute_long_rows(context, A, B, bins.first(kLongBin), bins.count(kLongBin), C);
}

#define HEDDLE_INSTANTIATE(T)                                                \
  template void compute_rows(CudaContext&, const CsrView<T, DeviceSpace>&,   \
                             const CsrView<T, DeviceSpace>&, const RowBins&, \
                             const DeviceIntegers&, Index, const ProductTarget<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
