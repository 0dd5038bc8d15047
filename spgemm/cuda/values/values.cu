#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/long_rows/long_rows.cuh>
#include <heddle/spgemm/cuda/rows/row_bins.cuh>
#include <heddle/spgemm/cuda/runs/run_values.cuh>
#include <heddle/spgemm/cuda/teams/launch_group.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>
#include <heddle/spgemm/cuda/teams/walk.cuh>
#include <heddle/spgemm/cuda/values/value_bins.cuh>
#include <heddle/spgemm/cuda/values/values.hpp>
#include <vector>

namespace heddle::detail {
namespace {

/// Threads of a block of teams, and the most shared memory that it should take.
constexpr int kTeamThreads = 128;
constexpr int kBlockBytes = 32 * 1024;

template <class T>
__global__ void bin_kernel(CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, Runs runs,
                           const std::int64_t* row_offsets, const std::int32_t* blocks, int chunks,
                           std::int32_t* bins, BinCounts* counts) {
  __shared__ unsigned shared[kMostBins];
  BlockCounts here(shared);
  for (Index i = thread_index(); i < A.rows; i += thread_count()) {
    const int bin = bin_of_row(A, B, runs, i, row_offsets[i + 1] - row_offsets[i],
                               blocks[runs.leader(i)], chunks);
    bins[i] = bin;
    if (bin < kValueBins) here.count(bin);
  }
  if (thread_index() == 0) counts->entries = static_cast<unsigned long long>(row_offsets[A.rows]);
  here.flush(counts);
}

extern __shared__ __align__(16) char shared_memory[];

/// The sums of one row of C in shared memory, in the order of its columns, and a hash table of its
/// blocks of columns that finds them.
template <class T, int W>
class TableOfRow {
 public:
  using Team = RowTeam<W>;

  /// Takes the largest table that fits into `bytes` with the sums. A team without a row has none.
  __device__ TableOfRow(char* memory, int bytes, int entries)
      : slots_(reinterpret_cast<Slot*>(memory)), count_(entries > 0 ? 2 : 0) {
    const auto left = static_cast<unsigned>(bytes - entries * static_cast<int>(sizeof(T)));
    while (entries > 0 && count_ * 2 * sizeof(Slot) <= left) count_ *= 2;
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

/// The thread blocks of one launch: those of several bins, one bin after the other.
struct BinBlocks {
  int bins = 0;
  int bin[kTableBins];
  int teams[kTableBins];                 ///< rows per thread block
  Index end[kTableBins];                 ///< the block after the last one of the bin
  const std::int32_t* rows[kTableBins];  ///< of the bin
  Index count[kTableBins];
};

/// One row of C per team of W lanes.
template <class T, int W>
__global__ void table_kernel(CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, BinBlocks blocks,
                             ProductTarget<T> C) {
  const BesideOthers beside;
  using Team = RowTeam<W>;
  int part = 0;
  while (Index{blockIdx.x} >= blocks.end[part]) ++part;
  const Index block = Index{blockIdx.x} - (part > 0 ? blocks.end[part - 1] : 0);
  const Index number = block * blocks.teams[part] + Team::in_block();
  const bool is_row = Team::in_block() < blocks.teams[part] && number < blocks.count[part];
  const Index row = is_row ? blocks.rows[part][number] : 0;
  const Index begin = C.row_offsets[row];
  const int entries = is_row ? static_cast<int>(C.row_offsets[row + 1] - begin) : 0;
  const int bytes = table_bytes(blocks.bin[part]);
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

/// Launches the rows of bins, of which the last one has the largest tables, in one grid: the
/// longest rows begin first, and short ones run at the same time.
template <int W, class T>
void launch_bins(LaunchGroup& group, const CsrView<T, DeviceSpace>& A,
                 const CsrView<T, DeviceSpace>& B, const RowBins& rows,
                 const std::vector<int>& bins, const ProductTarget<T>& C) {
  if (bins.empty()) return;
  constexpr int kTeams = kTeamThreads / W;
  const int most = table_bytes(bins.back());
  const int bytes = std::max(most, std::min(most * kTeams, kBlockBytes));
  BinBlocks blocks;
  Index end = 0;
  for (auto bin = bins.rbegin(); bin != bins.rend(); ++bin) {
    const int part = blocks.bins++;
    blocks.bin[part] = *bin;
    blocks.teams[part] = std::min(kTeams, bytes / table_bytes(*bin));
    blocks.rows[part] = rows.first(*bin);
    blocks.count[part] = rows.count(*bin);
    end += ceil_div(rows.count(*bin), Index{blocks.teams[part]});
    blocks.end[part] = end;
  }
  group.launch_blocks(table_kernel<T, W>, end, kTeamThreads, static_cast<std::size_t>(bytes), A, B,
                      blocks, C);
}

/// Bins with many rows are launched on their own, so that larger tables of others take no shared
/// memory from them.
template <int W, class T>
void compute_by_tables(LaunchGroup& group, Index resident_threads, const CsrView<T, DeviceSpace>& A,
                       const CsrView<T, DeviceSpace>& B, const RowBins& rows,
                       const ProductTarget<T>& C) {
  constexpr Index kWaves = 4;
  const Index many = kWaves * resident_threads / W;
  std::vector<int> few;
  for (int bin = 0; bin < kTableBins; ++bin) {
    if (rows.count(bin) > many) {
      launch_bins<W>(group, A, B, rows, {bin}, C);
    } else if (rows.count(bin) > 0) {
      few.push_back(bin);
    }
  }
  launch_bins<W>(group, A, B, rows, few, C);
}

}  // namespace

template <Scalar T>
RowBins bin_by_size(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                    const CsrView<T, DeviceSpace>& B, const RunPlaces& places,
                    const std::int64_t* row_offsets, const std::int32_t* blocks, Index& entries) {
  DeviceIntegers bins(context, places.size());
  Buffer<BinCounts, DeviceSpace> counts = no_counts(context);
  bin_kernel<T><<<grid_for(context, A.rows), kThreads, 0, context.stream()>>>(
      A, B, runs_of(places), row_offsets, blocks, chunks_per_strip(context, A.rows), bins.data(),
      counts.data());
  check_launch();
  BinCounts fetched{};
  RowBins made = collect_bins(context, bins, kValueBins, counts, fetched);
  entries = static_cast<Index>(fetched.entries);
  return made;
}

template <Scalar T>
void compute_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                  const CsrView<T, DeviceSpace>& B, const RowBins& bins, const RunPlaces& places,
                  Index longest_of_B, const ProductTarget<T>& C, bool with_columns) {
  constexpr Index kNarrow = 8;
  constexpr Index kMedium = 16;
  LaunchGroup group(context.stream());
  compute_long_rows(group, A, B, bins.first(kLongBin), bins.count(kLongBin), C);
  const Index threads = context.device().resident_threads();
  if (B.nnz <= kNarrow * B.rows) {
    compute_by_tables<kNarrow>(group, threads, A, B, bins, C);
  } else if (B.nnz <= kMedium * B.rows) {
    compute_by_tables<kMedium>(group, threads, A, B, bins, C);
  } else {
    compute_by_tables<kWarp>(group, threads, A, B, bins, C);
  }
  for (int r = 0; r < kRunBins; ++r) {
    const int bin = kFirstRunBin + r;
    compute_runs(group, A, B, bins.first(bin), bins.count(bin), runs_of(places), longest_of_B,
                 run_entries(r), C, with_columns);
  }
  const int chunks = chunks_per_strip(context, A.rows);
  for (int g = 0; g < kGatherBins; ++g) {
    const int bin = kFirstGatherBin + g;
    gather_runs(group, A, B, bins.first(bin), bins.count(bin), runs_of(places), chunks,
                gather_bytes(g), C, with_columns);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template RowBins bin_by_size(CudaContext&, const CsrView<T, DeviceSpace>&,                   \
                               const CsrView<T, DeviceSpace>&, const RunPlaces&,               \
                               const std::int64_t*, const std::int32_t*, Index&);              \
  template void compute_rows(CudaContext&, const CsrView<T, DeviceSpace>&,                     \
                             const CsrView<T, DeviceSpace>&, const RowBins&, const RunPlaces&, \
                             Index, const ProductTarget<T>&, bool);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
