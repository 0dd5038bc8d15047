#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/low_precision/results.cuh>
#include <heddle/spmm/low_precision/sliced_product.hpp>
#include <type_traits>

namespace heddle::detail {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kPieces = static_cast<int>(kPiecesPerSlice);

/// Thread blocks per multiprocessor that registers leave room for.
constexpr int kSliceBlocks = 4;

/// Loads of A under way at a time. With B in shared memory, few of them leave more registers.
constexpr int loads_at_a_time(bool staged) { return staged ? 2 : 4; }

/// 16 bytes in one load.
template <class T>
__device__ T loaded(const T* from) {
  static_assert(sizeof(T) == sizeof(int4));
  const int4 words = *reinterpret_cast<const int4*>(from);
  return *reinterpret_cast<const T*>(&words);
}

/// The columns of B in 16 bytes, of which a lane keeps sums; in the end those of its part.
template <class V>
using Sums = float[kPerPiece<V>];
template <class V>
inline constexpr int kPerLane = kPerPiece<V> / static_cast<int>(kLanesPerPiece);

/// A lane's entries of one load. Columns and values stay as they lie in memory: registers that hold
/// one number of 16 bits each would be half empty.
template <class V, bool kStaged>
struct Entries {
  static_assert(kEntriesPerLoad == 2);
  using Columns = std::conditional_t<kStaged, std::uint32_t, int2>;
  using Values = std::conditional_t<sizeof(V) == 2, std::uint32_t, uint2>;

  Columns columns = none();
  Values values = {};

  template <class Result>
  __device__ void load(const SlicedProduct<V, Result>& p, std::int64_t at) {
    if constexpr (kStaged) {
      columns = __ldg(reinterpret_cast<const Columns*>(p.staged_rows) + at);
    } else {
      columns = __ldg(reinterpret_cast<const Columns*>(p.columns) + at);
    }
    values = __ldg(reinterpret_cast<const Values*>(p.values) + at);
  }
  /// Of A; −1: there is no entry, and the value is 0. Staged: the row of B in shared memory.
  __device__ int column(int e) const {
    if constexpr (kStaged) {
      return static_cast<int>(e == 0 ? columns & 0xFFFF : columns >> 16);
    } else {
      return e == 0 ? columns.x : columns.y;
    }
  }
  __device__ float value(int e) const {
    if constexpr (sizeof(V) == 2) {
      const float2 pair = widened_pair(values, V{});
      return e == 0 ? pair.x : pair.y;
    } else {
      return widened(V{e == 0 ? values.x : values.y});
    }
  }

 private:
  static __device__ Columns none() {
    if constexpr (kStaged) {
      return 0;
    } else {
      return {-1, -1};
    }
  }
};

/// A batch of loads of a slice.
template <class V, int kLoads, bool kStaged>
struct Batch {
  Entries<V, kStaged> entries[kLoads];

  template <class Result>
  __device__ void load(const SlicedProduct<V, Result>& p, const RowSlice& slice, int from,
                       int lane) {
#pragma unroll
    for (int g = 0; g < kLoads; ++g) {
      entries[g] = {};
      if (from + g < slice.loads) entries[g].load(p, slice.first + (from + g) * kWarp + lane);
    }
  }
};

template <class V>
__device__ void add_entry(float a, const uint4& row_of_B, Sums<V>& sums) {
  float b[kPerPiece<V>];
  unpack<V>(row_of_B, b);
#pragma unroll
  for (int j = 0; j < kPerPiece<V>; ++j) sums[j] = fmaf(a, b[j], sums[j]);
}

/// Where a lane reads 16 bytes of a row of B. Not as constants (`__ldg`), whose loads may move
/// before the wait for the kernel that writes them.
template <class V>
struct RowsInMemory {
  const char* first;  ///< of row 0
  std::int32_t row_bytes;

  template <int kLoads>
  __device__ void add(const Batch<V, kLoads, false>& batch, Sums<V>& sums) const {
    uint4 rows[kLoads][kEntriesPerLoad];
#pragma unroll
    for (int g = 0; g < kLoads; ++g) {
#pragma unroll
      for (int e = 0; e < kEntriesPerLoad; ++e) {
        const std::int32_t column = batch.entries[g].column(e);
        rows[g][e] = make_uint4(0, 0, 0, 0);
        if (column >= 0) {
          rows[g][e] = *reinterpret_cast<const uint4*>(first + Index{column} * row_bytes);
        }
      }
    }
#pragma unroll
    for (int g = 0; g < kLoads; ++g) {
#pragma unroll
      for (int e = 0; e < kEntriesPerLoad; ++e) {
        add_entry<V>(batch.entries[g].value(e), rows[g][e], sums);
      }
    }
  }
};

template <class V>
struct RowsInSharedMemory {
  const uint4* rows;  ///< the first one is 0

  template <int kLoads>
  __device__ void add(const Batch<V, kLoads, true>& batch, Sums<V>& sums) const {
#pragma unroll
    for (int g = 0; g < kLoads; ++g) {
#pragma unroll
      for (int e = 0; e < kEntriesPerLoad; ++e) {
        const Entries<V, true>& entries = batch.entries[g];
        add_entry<V>(entries.value(e), rows[entries.column(e)], sums);
      }
    }
  }
};

/// The first half of sums where `upper` is false, else the second one, plus that of the lane at
/// this distance, which keeps the other half.
template <int kCount>
__device__ void halve(const float (&sums)[2 * kCount], bool upper, int distance,
                      float (&half)[kCount]) {
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    const float kept = upper ? sums[kCount + j] : sums[j];
    const float sent = upper ? sums[j] : sums[kCount + j];
    half[j] = kept + __shfl_xor_sync(kAllLanes, sent, distance);
  }
}

/// A piece's columns from `first_column` on, of its four lanes together.
template <class V>
struct PieceSums {
  int first_column;  ///< among the columns of 16 bytes of B
  float sums[kPerLane<V>];

  __device__ PieceSums(const Sums<V>& of_lane, int lane) {
    const bool upper = (lane & 2 * kPieces) != 0;
    const bool odd = (lane & kPieces) != 0;
    float half[2 * kPerLane<V>];
    halve(of_lane, upper, 2 * kPieces, half);
    halve(half, odd, kPieces, sums);
    first_column = (upper ? 2 * kPerLane<V> : 0) + (odd ? kPerLane<V> : 0);
  }
};

/// Stores neighbouring entries of a row of C.
template <class Result, int kCount>
__device__ void store_row(const Result& C, std::int32_t row, int exponent, int at,
                          const float (&sums)[kCount]) {
  if (at >= C.N) return;
  int exponents[kCount];
  exponents_of_columns(C, at, exponents);
  store_sums(C, row, exponent, exponents, at, sums);
}

/// The sum of each row in several pieces, in the order of the pieces.
template <class V, class Result>
__device__ void add_cut_rows(const SlicedProduct<V, Result>& p, const SliceShare& share, int at,
                             const float* slots) {
  constexpr int kColumns = kPerPiece<V>;
  const Index entries = static_cast<Index>(share.end_cut_row - share.first_cut_row) * kColumns;
  for (Index k = threadIdx.x; k < entries; k += blockDim.x) {
    const CutRow cut = p.cut_rows[share.first_cut_row + k / kColumns];
    const auto column = static_cast<int>(k % kColumns);
    float sum[1] = {};
    for (std::int32_t slot = cut.first_slot; slot < cut.end_slot; ++slot) {
      sum[0] += slots[slot * kColumns + column];
    }
    store_row(p.C, cut.row, exponent_of_row(p.C, cut.row), at + column, sum);
  }
}

/// Copies 16 bytes to shared memory, without a register between.
__device__ void copy_to_shared(uint4* to, const void* from) {
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from));
}

/// Copies the 16 bytes from column `at` on of every row of B to shared memory, behind a row of
/// zeros.
template <class V>
__device__ void stage(const ShortBlock<V>& B, int at, uint4* rows) {
  constexpr int kStep = static_cast<int>(kStagedWarps) * kWarp;
  const auto first = static_cast<int>(threadIdx.x);
  if (first == 0) rows[0] = make_uint4(0, 0, 0, 0);
  if (B.row_bytes == static_cast<int>(sizeof(uint4))) {
    const uint4* const from = reinterpret_cast<const uint4*>(B.values);
#pragma unroll 4
    for (int row = first; row < B.rows; row += kStep)
      copy_to_shared(rows + kFirstStagedRow + row, from + row);
  } else {
    const char* const from = reinterpret_cast<const char*>(B.values + at);
#pragma unroll 4
    for (int row = first; row < B.rows; row += kStep) {
      copy_to_shared(rows + kFirstStagedRow + row, from + Index{row} * B.row_bytes);
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}

/// A warp multiplies every W-th slice of its thread block, W its warps. blockIdx.y is the piece of
/// 16 bytes of the rows of B. A is read before the kernel before has ended.
template <class V, class Result, bool kStaged>
__global__ __launch_bounds__(
    kWarp*(kStaged ? kStagedWarps : kSliceWarps),
    kStaged ? 1 : kSliceBlocks) void sliced_product_kernel(SlicedProduct<V, Result> p) {
  extern __shared__ uint4 shared[];
  constexpr int kLoads = loads_at_a_time(kStaged);
  constexpr int kColumns = kPerPiece<V>;
  cuda::allow_next_kernel();
  const auto lane = static_cast<int>(threadIdx.x % kWarp);
  const auto warp = static_cast<int>(threadIdx.x / kWarp);
  const auto warps = static_cast<int>(blockDim.x) / kWarp;
  const int at = static_cast<int>(blockIdx.y) * kColumns;
  float* const slots =
      reinterpret_cast<float*>(shared + (kStaged ? kFirstStagedRow + p.B.rows : 0));
  const SliceShare share = loaded(p.shares + blockIdx.x);
  if constexpr (kStaged) {
    cuda::wait_for_previous_kernel();
    stage(p.B, at, shared);
  }
  bool waited = kStaged;
  for (int k = share.first_slice + warp; k < share.end_slice; k += warps) {
    const RowSlice slice = loaded(p.slices + k);
    const std::int32_t target = p.targets[k * kPieces + lane % kPieces];
    const int exponent = target >= 0 ? exponent_of_row(p.C, target) : 0;
    Batch<V, kLoads, kStaged> batch;
    batch.load(p, slice, 0, lane);
    if (!waited) cuda::wait_for_previous_kernel();
    waited = true;
    Sums<V> sums = {};
    for (int from = 0; from < slice.loads; from += kLoads) {
      if constexpr (kStaged) {
        Batch<V, kLoads, kStaged> next;
        next.load(p, slice, from + kLoads, lane);
        RowsInSharedMemory<V>{shared}.add(batch, sums);
        batch = next;
      } else {
        if (from > 0) batch.load(p, slice, from, lane);
        RowsInMemory<V>{reinterpret_cast<const char*>(p.B.values + at), p.B.row_bytes}.add(batch,
                                                                                           sums);
      }
    }
    const PieceSums<V> piece(sums, lane);
    if (target >= 0) {
      store_row(p.C, target, exponent, at + piece.first_column, piece.sums);
    } else if (target <= kFirstSlot) {
      float* const to = slots + (kFirstSlot - target) * kColumns + piece.first_column;
#pragma unroll
      for (int j = 0; j < kPerLane<V>; ++j) to[j] = piece.sums[j];
    }
  }
  if (!waited) cuda::wait_for_previous_kernel();
  if (share.first_cut_row == share.end_cut_row) return;
  __syncthreads();
  add_cut_rows(p, share, at, slots);
}

template <bool kStaged, class V, class Result>
void launch(CudaContext& context, const SlicedProduct<V, Result>& p) {
  const std::size_t bytes = sliced_product_bytes(p.B.rows, p.most_slots, kStaged);
  const auto kernel = sliced_product_kernel<V, Result, kStaged>;
  if constexpr (kStaged) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)));
  }
  const dim3 grid(static_cast<unsigned>(p.thread_blocks),
                  static_cast<unsigned>(ceil_div(p.C.N, kPerPiece<V>)));
  const auto threads = static_cast<unsigned>(kWarp * (kStaged ? kStagedWarps : kSliceWarps));
  cuda::launch_dependent(kernel, {grid, dim3(threads), bytes}, context.stream(), p);
}

}  // namespace

std::size_t sliced_product_bytes(Index rows_of_B, std::int32_t slots, bool staged) noexcept {
  constexpr std::size_t kPieceBytes = 16;  // of B
  constexpr std::size_t kSlotBytes = 32;   // the sums of at most 8 columns
  return (staged ? static_cast<std::size_t>(kFirstStagedRow + rows_of_B) * kPieceBytes : 0) +
         static_cast<std::size_t>(slots) * kSlotBytes;
}

template <class V, class Result>
void multiply_slices(CudaContext& context, const SlicedProduct<V, Result>& p) {
  if (p.thread_blocks == 0 || p.C.N == 0) return;
  if (p.staged()) {
    launch<true>(context, p);
  } else {
    launch<false>(context, p);
  }
}

#define HEDDLE_INSTANTIATE(V, C) \
  template void multiply_slices(CudaContext&, const SlicedProduct<V, C>&);
HEDDLE_FOR_EACH_SHORT_PRODUCT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
