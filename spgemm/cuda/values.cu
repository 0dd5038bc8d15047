#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/row_team.cuh>
#include <heddle/spgemm/cuda/values.hpp>

namespace heddle::detail {
namespace {

/// Bins of rows that a team sums in shared memory, by the bytes that it needs: 256, 384, 512, 768 …
constexpr int kTableBins = 16;
__host__ __device__ constexpr int table_bytes(int bin) {
  return ((bin % 2 == 0 ? 256 : 384) << (bin / 2));
}

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

/// The distance between the sums of one entry of C and those of the next one, for kWarp rows: odd,
/// so that the lanes reach different banks along both.
constexpr int kSumStride = kWarp + 1;

/// Values per row of B that a chunk stages in shared memory. Longer rows are read in place.
constexpr Index kMostStaged = 64;

/// Threads of a block of teams, and the most shared memory that it should take.
constexpr int kTeamThreads = 128;
constexpr int kBlockBytes = 64 * 1024;

/// A key and a place of a hash table, see `TableOfRow`.
constexpr int kSlotBytes = 12;

/// The chunk of a run that row i belongs to.
struct Chunk {
  Index first;
  Index rows;
};

__device__ Chunk chunk_of(const std::int32_t* leaders, Index rows, Index i) {
  const std::int32_t leader = leaders[i];
  const Index first = leader + (i - leader) / kWarp * kWarp;
  const Index most = rows - first < kWarp ? rows - first : Index{kWarp};
  return {first, count_below(leaders + first, most, leader + 1)};
}

/// The bytes of a team's memory for a row of `entries` in `blocks` blocks. The table is at most
/// three quarters full.
__device__ Index bytes_needed(Index entries, Index blocks, int scalar_bytes) {
  Index slots = 2;
  while (blocks * 4 > slots * 3) slots *= 2;
  return slots * kSlotBytes + entries * scalar_bytes;
}

__device__ int bin_of_row(const std::int32_t* leaders, Index rows, Index i, Index entries,
                          std::int32_t leader_blocks, int scalar_bytes) {
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
  int bin = 0;
  while (bin < kTableBins && bytes > table_bytes(bin)) ++bin;
  return bin < kTableBins ? bin : kLongBin;
}

__global__ void bin_kernel(const std::int32_t* leaders, Index rows, const std::int64_t* row_offsets,
                           const std::int32_t* blocks, int scalar_bytes, std::int32_t* bins) {
  for (Index i = thread_index(); i < rows; i += thread_count()) {
    bins[i] = bin_of_row(leaders, rows, i, row_offsets[i + 1] - row_offsets[i], blocks[leaders[i]],
                         scalar_bytes);
  }
}

extern __shared__ __align__(16) char shared_memory[];

/// The sums of one row of C in shared memory, in the order of its columns, and a hash table that
/// finds them: per block of columns, the mask of its columns and the number of entries before it.
template <class T, int W>
struct TableOfRow {
  using Team = RowTeam<W>;

  uint2* places;  // x: the mask, y: the entries before
  T* sums;
  std::int32_t* keys;
  unsigned slots;

  /// Takes the largest table that fits beside the sums.
  __device__ TableOfRow(char* memory, int bytes, int entries) : slots(2) {
    const auto left = static_cast<unsigned>(bytes - entries * static_cast<int>(sizeof(T)));
    while (slots * 2 * kSlotBytes <= left) slots *= 2;
    places = reinterpret_cast<uint2*>(memory);
    sums = reinterpret_cast<T*>(places + slots);
    keys = reinterpret_cast<std::int32_t*>(sums + entries);
  }

  __device__ void enter(const std::int32_t* columns, int entries) {
    for (unsigned s = Team::lane(); s < slots; s += W) {
      keys[s] = kFree;
      places[s].x = 0;
    }
    for (int j = Team::lane(); j < entries; j += W) sums[j] = T{0};
    __syncwarp();
    for (int j = Team::lane(); j < entries; j += W) {
      const std::int32_t column = columns[j];
      const unsigned place = enter_key(keys, slots, block_of(column));
      atomicOr(&places[place].x, bit_of(column));
      const bool is_first = j == 0 || block_of(columns[j - 1]) != block_of(column);
      if (is_first) places[place].y = static_cast<unsigned>(j);
    }
    __syncwarp();
  }

  /// Adds `term` to the sum of the column. A column that the row of C lacks is left out: then A or
  /// B has another pattern than the plan.
  __device__ void add(std::int32_t column, T term, T factor) {
    const std::int32_t key = block_of(column);
    unsigned place = first_place(key, slots);
    while (keys[place] != key) {
      if (keys[place] == kFree) return;
      place = (place + 1) & (slots - 1);
    }
    const uint2 found = places[place];
    if ((found.x & bit_of(column)) == 0) return;
    sums[found.y + __popc(found.x & (bit_of(column) - 1))] += factor * term;
  }
};

/// One row of C per team of W lanes. The rows of B are added one after the other, so that each sum
/// has its terms in the order of k; the entries of one row belong to different sums.
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

  const Index last = is_row ? A.row_offsets[row + 1] : 0;
  for (Index a = is_row ? A.row_offsets[row] : 0; Team::any(a < last); a += W) {
    // Each lane prepares one factor.
    const Index mine = a + Team::lane();
    Index from = 0;
    int length = 0;
    T factor{0};
    if (mine < last) {
      const std::int32_t k = A.columns[mine];
      factor = A.values[mine];
      from = B.row_offsets[k];
      length = static_cast<int>(B.row_offsets[k + 1] - from);
    }
    for (int t = 0; t < W && Team::any(a + t < last); ++t) {
      const Index first = __shfl_sync(kAllLanes, from, t, W);
      const int terms = __shfl_sync(kAllLanes, length, t, W);
      const T scale = __shfl_sync(kAllLanes, factor, t, W);
      for (int e = Team::lane(); Team::any(e < terms); e += W) {
        if (e < terms) table.add(B.columns[first + e], B.values[first + e], scale);
        __syncwarp();
      }
    }
  }
  for (int j = Team::lane(); j < entries; j += W) C.values[begin + j] = table.sums[j];
}

/// Steps through a range of numbers t = 32·step + lane as (row, column) = (t / width, t mod width).
struct RowStepper {
  int row = 0;
  int column;
  int width;

  __device__ explicit RowStepper(int row_width) : column(lane_index()), width(row_width) { wrap(); }
  __device__ void next() {
    column += kWarp;
    wrap();
  }
  __device__ void wrap() {
    while (column >= width) {
      column -= width;
      ++row;
    }
  }
};

/// sums(p_e, lane) += factor · terms[e] for e = 0 … count − 1. The place p_e is with lane e.
template <class T>
__device__ void add_terms(T* sums, int places, int count, T factor, const T* terms) {
  constexpr int kAtOnce = 4;  // the sums of one row of B are different ones
  int e = 0;
  for (; e + kAtOnce <= count; e += kAtOnce) {
    T* at[kAtOnce];
    T sum[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      at[u] = sums + __shfl_sync(kAllLanes, places, e + u) * kSumStride;
      sum[u] = *at[u];
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) *at[u] = sum[u] + factor * terms[e + u];
  }
  for (; e < count; ++e) {
    sums[__shfl_sync(kAllLanes, places, e) * kSumStride] += factor * terms[e];
  }
}

/// A chunk of a run of rows of C per warp, one row per lane. All rows take their terms from the
/// same places of A, B and C, counted from the beginnings of their own rows.
template <class T>
__global__ void run_kernel(CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B,
                           const std::int32_t* leaders, const std::int32_t* rows, int capacity,
                           int staged, ProductTarget<T> C) {
  const int lane = lane_index();
  const Index row = rows[blockIdx.x];
  const int height = static_cast<int>(chunk_of(leaders, A.rows, row).rows);
  const Index begin = C.row_offsets[row];
  const int entries = static_cast<int>(C.row_offsets[row + 1] - begin);
  T* sums = reinterpret_cast<T*>(shared_memory);
  T* stage = sums + capacity * kSumStride;
  std::int32_t* columns = reinterpret_cast<std::int32_t*>(stage + kWarp * staged);
  for (int j = lane; j < entries; j += kWarp) columns[j] = C.columns[begin + j];
  for (int j = 0; j < entries; ++j) sums[j * kSumStride + lane] = T{0};
  __syncwarp();

  const int mine = lane < height ? lane : height - 1;
  const Index first = A.row_offsets[row];
  const Index factors = A.row_offsets[row + 1] - first;
  for (Index a = 0; a < factors; ++a) {
    const T factor = A.values[first + mine * factors + a];
    const std::int32_t k = A.columns[first + a];
    const Index from = B.row_offsets[k];
    const int terms = static_cast<int>(B.row_offsets[k + 1] - from);
    if (terms == 0) continue;
    const int pitch = terms | 1;
    const T* term = B.values + from + Index{mine} * terms;
    if (pitch <= staged) {
      RowStepper step(terms);
      for (int t = lane; t < height * terms; t += kWarp, step.next()) {
        stage[step.row * pitch + step.column] = B.values[from + t];
      }
      term = stage + mine * pitch;
      __syncwarp();
    }
    for (int e = 0; e < terms; e += kWarp) {
      int place = 0;
      if (e + lane < terms) {
        place = count_below(columns, entries, B.columns[from + e + lane]);
        place = place < entries ? place : entries - 1;
      }
      add_terms(sums + lane, place, terms - e < kWarp ? terms - e : kWarp, factor, term + e);
    }
    __syncwarp();
  }
  RowStepper step(entries);
  for (int t = lane; t < height * entries; t += kWarp, step.next()) {
    C.values[begin + t] = sums[step.column * kSumStride + step.row];
  }
}

__global__ void longest_kernel(const std::int64_t* row_offsets, Index rows,
                               unsigned long long* longest) {
  Index mine = 0;
  for (Index i = thread_index(); i < rows; i += thread_count()) {
    const Index length = row_offsets[i + 1] - row_offsets[i];
    mine = length > mine ? length : mine;
  }
  atomicMax(longest, static_cast<unsigned long long>(mine));
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
                    const std::int64_t* row_offsets, const std::int32_t* blocks,
                    std::size_t scalar_bytes) {
  const auto rows = static_cast<Index>(leaders.size());
  DeviceIntegers bins(context, leaders.size());
  bin_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(
      leaders.data(), rows, row_offsets, blocks, static_cast<int>(scalar_bytes), bins.data());
  check_launch();
  return sort_into_bins(context, std::move(bins), kValueBins);
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
  const int staged = static_cast<int>(std::min(longest_of_B, kMostStaged)) | 1;
  for (int r = 0; r < kRunBins; ++r) {
    const int bin = kFirstRunBin + r;
    const int capacity = run_entries(r);
    const std::size_t bytes =
        static_cast<std::size_t>(capacity * kSumStride + kWarp * staged) * sizeof(T) +
        static_cast<std::size_t>(capacity) * sizeof(std::int32_t);
    launch_teams<kWarp>(context.stream(), run_kernel<T>, bins.count(bin), kWarp, bytes, A, B,
                        leaders.data(), bins.first(bin), capacity, staged, C);
  }
  compute_long_rows(context, A, B, bins.first(kLongBin), bins.count(kLongBin), C);
}

Index longest_row(CudaContext& context, const std::int64_t* row_offsets, Index rows) {
  Buffer<unsigned long long, DeviceSpace> longest(context, 1);
  check(cudaMemsetAsync(longest.data(), 0, sizeof(unsigned long long), context.stream()));
  longest_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(row_offsets, rows,
                                                                             longest.data());
  check_launch();
  Index result = 0;
  context.copy_to_host(&result, longest.data(), sizeof result);
  return result;
}

#define HEDDLE_INSTANTIATE(T)                                                \
  template void compute_rows(CudaContext&, const CsrView<T, DeviceSpace>&,   \
                             const CsrView<T, DeviceSpace>&, const RowBins&, \
                             const DeviceIntegers&, Index, const ProductTarget<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
