#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/runs/gathered_runs.cuh>
#include <heddle/spgemm/cuda/runs/run_values.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>
#include <heddle/spgemm/cuda/teams/staged_copy.cuh>

namespace heddle::detail {
namespace {

extern __shared__ __align__(16) char shared_memory[];

/// The sum of the values of the lanes before this one.
__device__ int sum_before(int value) {
  int sum = value;
  for (int step = 1; step < kWarp; step *= 2) {
    const int before = __shfl_up_sync(kAllLanes, sum, step);
    if (lane_index() >= step) sum += before;
  }
  return sum - value;
}

/// The factors of the rows of a chunk: lane a of each warp has the row of B that factor a of the
/// first row multiplies. Rows of B for neighbouring columns of A form an interval, and are staged
/// once, as far behind a multiple of 16 bytes as in memory, so that 16 bytes are copied at a time.
/// Chunks of a strip are kWarp rows, and so multiples of 16 bytes, apart.
struct Factors {
  int count;           ///< entries per row of A
  Index from = 0;      ///< the first entry of the row of B
  int terms = 0;       ///< its entries
  int product;         ///< terms of the factors before
  int products;        ///< of all factors
  unsigned intervals;  ///< the factors whose row of B does not follow that of the factor before
  int interval = 0;    ///< factors of the interval that begins here
  int stage;           ///< where the row of this factor begins in the stage
  int staged;          ///< numbers of the rows of B in the stage
  int own;             ///< where the rows of A begin in the stage
  int pitch;           ///< of its rows

  __device__ int own_pitch() const { return count | 1; }  ///< of the rows of A

  template <class T>
  __device__ Factors(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                     Index first, int entries, int height)
      : count(entries) {
    const int lane = lane_index();
    std::int32_t k = -2;
    if (lane < count) {
      k = A.columns[first + lane];
      from = B.row_offsets[k];
      terms = static_cast<int>(B.row_offsets[k + 1] - from);
    }
    product = sum_before(terms);
    products = __shfl_sync(kAllLanes, product + terms, kWarp - 1);
    const std::int32_t before = __shfl_up_sync(kAllLanes, k, 1);
    const bool begins = lane < count && (lane == 0 || k != before + 1);
    intervals = __ballot_sync(kAllLanes, begins);
    pitch = __reduce_max_sync(kAllLanes, terms) | 1;
    const unsigned all = 0xffffffffU;
    const unsigned up_to_here = all >> (kWarp - 1 - lane);
    const int begin = kWarp - 1 - __clz(static_cast<int>(intervals & up_to_here));
    const unsigned later = intervals & ~up_to_here;
    const int end = later != 0 ? __ffs(static_cast<int>(later)) - 1 : count;
    if (begins) interval = end - lane;
    constexpr int kUnit = kNumbersIn16Bytes<T>;
    const int behind = begins ? numbers_behind_16_bytes(B.values + from) : 0;
    const int numbers = begins ? behind + (interval + height - 1) * pitch : 0;
    const int padded = (numbers + kUnit - 1) / kUnit * kUnit;
    const int base = sum_before(padded);
    staged = __shfl_sync(kAllLanes, base + padded, kWarp - 1);
    own = staged + numbers_behind_16_bytes(A.values + first);
    stage = __shfl_sync(kAllLanes, base + behind, begin < 0 ? 0 : begin) + (lane - begin) * pitch;
  }
};

/// A strip of chunks of one run: rows of A whose patterns are shifted copies of one another.
struct Strip {
  Index row;           ///< the first one
  std::int32_t moved;  ///< rows after the leader of the run
  int rows;            ///< of whole chunks, and of a rest that is a chunk
  Index first;         ///< the first entry in A
  Index begin;         ///< the first entry in C
  int entries;         ///< per row of C
  Index pattern;       ///< the leader's first entry in C

  template <class T>
  __device__ Strip(const CsrView<T, DeviceSpace>& A, const Runs& runs, Index strip_row, int chunks,
                   const ProductTarget<T>& C)
      : row(strip_row), first(A.row_offsets[strip_row]), begin(C.row_offsets[strip_row]) {
    const int lane = lane_index();
    moved = runs.places[row];
    pattern = C.row_offsets[row - moved];
    entries = static_cast<int>(C.row_offsets[row + 1] - begin);
    const auto is_mine = [&](Index i) {
      return i < runs.rows && runs.places[i] == moved + (i - row);
    };
    const bool is_whole = lane < chunks && is_mine(row + Index{kWarp} * (lane + 1) - 1);
    const int whole = __popc(__ballot_sync(kAllLanes, is_whole));
    const bool is_rest = whole < chunks && is_mine(row + Index{kWarp} * whole + lane);
    const int rest = __popc(__ballot_sync(kAllLanes, is_rest));
    rows = whole * kWarp + (rest >= kLeastChunk ? rest : 0);
  }

  __device__ int height(int done) const { return rows - done < kWarp ? rows - done : kWarp; }
  __device__ int sum_pitch() const { return entries | 1; }

  /// Entries per tile, and those of the tile that begins with entry j. Tiles have about one width.
  __device__ int tile() const {
    const int tiles = (entries + kTile - 1) / kTile;
    return (entries + tiles - 1) / tiles;
  }
  __device__ int width(int j) const {
    const int left = entries - j;
    return left < 0 ? 0 : left < tile() ? left : tile();
  }
};

/// The shared memory of a strip.
template <class T>
struct StripMemory {
  GatheredTerm* terms;     ///< of all entries of a row of C, entry by entry
  T* stages;               ///< one after the other: rows of B, then rows of A
  int stage_numbers;       ///< of one stage
  int own_rows;            ///< where the rows of A begin in a stage
  T* sums;                 ///< rows of C, an odd number of numbers apart
  std::int32_t* columns;   ///< of the first row of C
  unsigned* masks;         ///< per entry of C, the factors that it has a term of
  int* starts;             ///< per entry of C, its first term
  unsigned short* places;  ///< per term, in the order of the factors, its entry of C

  /// Rows of B, `Factors::pitch` numbers apart, and rows of A, an odd number of numbers apart.
  __device__ T* stage(int number) const { return stages + number * stage_numbers; }
  __device__ T* own(int number) const { return stage(number) + own_rows; }

  __device__ StripMemory(char* memory, int stage_count, const Strip& strip,
                         const Factors& factors) {
    terms = reinterpret_cast<GatheredTerm*>(memory);
    stages = reinterpret_cast<T*>(terms + term_places(factors.products, strip.entries));
    own_rows = factors.own;
    constexpr int kUnit = kNumbersIn16Bytes<T>;
    const int numbers = own_rows + strip.height(0) * factors.own_pitch();
    stage_numbers = (numbers + kUnit - 1) / kUnit * kUnit;
    sums = stage(stage_count);
    columns = reinterpret_cast<std::int32_t*>(sums + strip.height(0) * strip.sum_pitch());
    masks = reinterpret_cast<unsigned*>(columns + strip.entries);
    starts = reinterpret_cast<int*>(masks + strip.entries);
    places = reinterpret_cast<unsigned short*>(starts + strip.entries);
  }
};

/// Begins to copy what the chunk after `done` rows of the strip needs of A and B to a stage.
/// Nothing after the last chunk.
template <class T>
__device__ void stage_chunk(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                            const Strip& strip, const Factors& factors, int done,
                            const StripMemory<T>& memory, int stage) {
  const int height = strip.height(done);
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  int turn = static_cast<int>(threadIdx.x) / kWarp;  // of this warp, which copies at 0
  const auto is_mine = [&turn, warps] {
    turn = turn == 0 ? warps - 1 : turn - 1;
    return turn == warps - 1;
  };
  for (unsigned left = factors.intervals; left != 0; left &= left - 1) {
    if (!is_mine()) continue;
    const int a = __ffs(static_cast<int>(left)) - 1;
    const int width = __shfl_sync(kAllLanes, factors.terms, a);
    const int rows = __shfl_sync(kAllLanes, factors.interval, a) + height - 1;
    const Index from = __shfl_sync(kAllLanes, factors.from, a) + Index{done} * width;
    copy_rows(memory.stage(stage) + __shfl_sync(kAllLanes, factors.stage, a), factors.pitch,
              B.values + from, rows, width);
  }
  if (is_mine()) {
    copy_rows(memory.own(stage), factors.own_pitch(),
              A.values + strip.first + Index{done} * factors.count, height, factors.count);
  }
  __pipeline_commit();
}

constexpr unsigned kLast = 1U << 31;
constexpr unsigned short kNowhere = 0xffff;

/// The entry of C of each term of the first row. A term that C has no place for is left out: then A
/// or B has another pattern than the plan.
template <class T>
__device__ void find_places(const CsrView<T, DeviceSpace>& B, const Strip& strip,
                            const Factors& factors, const StripMemory<T>& memory) {
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  for (int a = static_cast<int>(threadIdx.x) / kWarp; a < factors.count; a += warps) {
    const Index from = __shfl_sync(kAllLanes, factors.from, a);
    const int count = __shfl_sync(kAllLanes, factors.terms, a);
    const int product = __shfl_sync(kAllLanes, factors.product, a);
    for (int e = lane_index(); e < count; e += kWarp) {
      const std::int32_t column = B.columns[from + e];
      const int place = count_below(memory.columns, strip.entries, column);
      const bool found = place < strip.entries && memory.columns[place] == column;
      if (found) atomicOr(memory.masks + place, 1U << a);
      memory.places[product + e] = found ? static_cast<unsigned short>(place) : kNowhere;
    }
    __syncwarp();
  }
}

/// starts[j] ← the first term of entry j, where the list of each tile begins at a multiple of
/// kTermsAtOnce. One warp, a tile per lane.
template <class T>
__device__ void place_lists(const Strip& strip, const StripMemory<T>& memory) {
  const int begin = lane_index() * strip.tile();
  const int end = begin + strip.width(begin);
  int count = 0;
  for (int j = begin; j < end; ++j) count += __popc(memory.masks[j]);
  int start = sum_before((count + kTermsAtOnce - 1) / kTermsAtOnce * kTermsAtOnce);
  for (int j = begin; j < end; ++j) {
    memory.starts[j] = start;
    start += __popc(memory.masks[j]);
  }
}

/// The list of terms: those of an entry in the order of the factors.
template <class T>
__device__ void write_terms(const Factors& factors, const StripMemory<T>& memory) {
  constexpr unsigned kBytes = sizeof(T);
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  for (int a = static_cast<int>(threadIdx.x) / kWarp; a < factors.count; a += warps) {
    const int count = __shfl_sync(kAllLanes, factors.terms, a);
    const int product = __shfl_sync(kAllLanes, factors.product, a);
    const int stage = __shfl_sync(kAllLanes, factors.stage, a);
    for (int e = lane_index(); e < count; e += kWarp) {
      const unsigned short place = memory.places[product + e];
      if (place == kNowhere) continue;
      const unsigned mask = memory.masks[place];
      const unsigned last = mask >> a == 1U ? kLast : 0;
      memory.terms[memory.starts[place] + __popc(mask & ((1U << a) - 1))] = {
          static_cast<unsigned>(a) * kBytes, last | static_cast<unsigned>(stage + e) * kBytes};
    }
  }
}

template <class T>
__device__ void list_terms(const CsrView<T, DeviceSpace>& B, const Strip& strip,
                           const Factors& factors, const ProductTarget<T>& C,
                           const StripMemory<T>& memory) {
  for (int j = static_cast<int>(threadIdx.x); j < strip.entries;
       j += static_cast<int>(blockDim.x)) {
    memory.columns[j] = C.columns[strip.pattern + j] + strip.moved;
    memory.masks[j] = 0;
  }
  // Padding of the list of a tile belongs to no entry.
  for (int p = static_cast<int>(threadIdx.x); p < term_places(factors.products, strip.entries);
       p += static_cast<int>(blockDim.x)) {
    memory.terms[p] = {};
  }
  __syncthreads();
  find_places(B, strip, factors, memory);
  __syncthreads();
  if (threadIdx.x < kWarp) place_lists(strip, memory);
  __syncthreads();
  write_terms(factors, memory);
}

/// The number at `bytes` bytes behind `base`.
template <class T>
__device__ T number_at(const T* base, unsigned bytes) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(base) + bytes);
}

/// The sums of the tile that begins with entry j, for the row of this lane whose entries of A begin
/// with `own` and whose place in the stage is `stage`. sums ← sums[0], sums[1] …
template <class T>
__device__ void sum_tile(const StripMemory<T>& memory, const T* own, const T* stage, int j,
                         int width, T* sums) {
  const int last = j + width - 1;
  const int end = memory.starts[last] + __popc(memory.masks[last]);
  T sum{0};
  for (int p = memory.starts[j]; p < end; p += kTermsAtOnce) {
    GatheredTerm term[kTermsAtOnce];
    T factor[kTermsAtOnce];
    T value[kTermsAtOnce];
#pragma unroll
    for (int u = 0; u < kTermsAtOnce; u += 2) {
      const uint4 two = *reinterpret_cast<const uint4*>(memory.terms + p + u);
      term[u] = {two.x, two.y};
      term[u + 1] = {two.z, two.w};
    }
#pragma unroll
    for (int u = 0; u < kTermsAtOnce; ++u) {
      factor[u] = number_at(own, term[u].own);
      value[u] = number_at(stage, term[u].stage & ~kLast);
    }
#pragma unroll
    for (int u = 0; u < kTermsAtOnce; ++u) {
      sum += factor[u] * value[u];
      if ((term[u].stage & kLast) != 0) {
        *sums++ = sum;
        sum = T{0};
      }
    }
  }
}

/// The sums of the chunk after `done` rows of the strip: each warp takes the next tile of entries.
template <class T>
__device__ void sum_chunk(const Strip& strip, const Factors& factors, int done,
                          const StripMemory<T>& memory, int stage, int* next_tile) {
  const int lane = lane_index();
  const int height = strip.height(done);
  const int mine = lane < height ? lane : height - 1;
  const int tile = strip.tile();
  const T* const own = memory.own(stage) + mine * factors.own_pitch();
  const T* const rows_of_B = memory.stage(stage) + mine * factors.pitch;
  for (;;) {
    int number = 0;
    if (lane == 0) number = atomicAdd(next_tile, 1);
    const int j = __shfl_sync(kAllLanes, number, 0) * tile;
    if (j >= strip.entries) break;
    sum_tile(memory, own, rows_of_B, j, strip.width(j), memory.sums + mine * strip.sum_pitch() + j);
  }
}

/// Calls write(row, column) for all entries of `rows` rows. As many neighbouring threads as a row
/// needs, at most a warp, take a row at a time.
template <class Write>
__device__ void for_each_entry(int rows, int entries, const Write& write) {
  const int width = entries > 16 ? kWarp : entries > 8 ? 16 : 8;
  const int thread = static_cast<int>(threadIdx.x);
  for (int row = thread / width; row < rows; row += static_cast<int>(blockDim.x) / width) {
#pragma unroll 2
    for (int column = thread % width; column < entries; column += width) write(row, column);
  }
}

/// Writes the sums to C, where the rows of a chunk follow each other: neighbouring threads write
/// neighbouring entries.
template <class T>
__device__ void write_chunk(const Strip& strip, int done, const StripMemory<T>& memory,
                            const ProductTarget<T>& C, bool with_columns) {
  const int entries = strip.entries;
  const int height = strip.height(done);
  const Index begin = strip.begin + Index{done} * entries;
  T* const values = C.values + begin;
  if (strip.sum_pitch() == entries) {
#pragma unroll 4
    for (int t = static_cast<int>(threadIdx.x); t < height * entries;
         t += static_cast<int>(blockDim.x)) {
      values[t] = memory.sums[t];
    }
  } else {
    for_each_entry(height, entries, [&](int row, int column) {
      values[row * entries + column] = memory.sums[row * strip.sum_pitch() + column];
    });
  }
  if (!with_columns) return;
  std::int32_t* const columns = C.columns + begin;
  const int first_moved = strip.moved + done == 0 ? 1 : 0;  // the leader has its columns
  for_each_entry(height - first_moved, entries, [&](int row, int column) {
    columns[(row + first_moved) * entries + column] =
        memory.columns[column] + done + row + first_moved;
  });
}

/// A strip of rows per thread block, a row of C per lane of its warps. All rows take their terms
/// from the same places, counted from the beginnings of their own rows of A, B and C: these places
/// are found once, and sorted by the entry of C, so that a sum stays in a register. With two stages
/// the next chunk is copied while one is computed.
template <class T>
__global__ __launch_bounds__(kThreads, 3) void gather_kernel(CsrView<T, DeviceSpace> A,
                                                             CsrView<T, DeviceSpace> B, Runs runs,
                                                             const std::int32_t* rows, int chunks,
                                                             int stages, ProductTarget<T> C,
                                                             bool with_columns) {
  const BesideOthers beside;
  __shared__ int next_tile;
  const Strip strip(A, runs, rows[blockIdx.x], chunks, C);
  const int count = static_cast<int>(A.row_offsets[strip.row + 1] - strip.first);
  const Factors factors(A, B, strip.first, count, strip.height(0));
  const StripMemory<T> memory(shared_memory, stages, strip, factors);
  int staged = 0;
  for (int done = 0;; done += kWarp) {
    for (; staged < strip.rows && staged < done + stages * kWarp; staged += kWarp) {
      stage_chunk(A, B, strip, factors, staged, memory, staged / kWarp % stages);
    }
    if (done == 0) list_terms(B, strip, factors, C, memory);
    if (done > 0) write_chunk(strip, done - kWarp, memory, C, with_columns);
    if (done >= strip.rows) break;
    if (threadIdx.x == 0) next_tile = 0;
    if (staged > done + kWarp) {
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    sum_chunk(strip, factors, done, memory, done / kWarp % stages, &next_tile);
    __syncthreads();
  }
}

}  // namespace

template <Scalar T>
void gather_runs(LaunchGroup& group, const CsrView<T, DeviceSpace>& A,
                 const CsrView<T, DeviceSpace>& B, const std::int32_t* rows, Index count,
                 const Runs& runs, int chunks, Index bytes, const ProductTarget<T>& C,
                 bool with_columns) {
  constexpr Index kSmall = 16 * 1024;
  constexpr Index kMedium = 64 * 1024;
  const int threads = kWarp * (bytes <= kSmall ? 2 : bytes <= kMedium ? 4 : 8);
  group.launch_blocks(gather_kernel<T>, count, threads, static_cast<std::size_t>(bytes), A, B, runs,
                      rows, chunks, stages_within(bytes), C, with_columns);
}

#define HEDDLE_INSTANTIATE(T)                                                           \
  template void gather_runs(LaunchGroup&, const CsrView<T, DeviceSpace>&,               \
                            const CsrView<T, DeviceSpace>&, const std::int32_t*, Index, \
                            const Runs&, int, Index, const ProductTarget<T>&, bool);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
