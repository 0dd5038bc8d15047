#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/long_rows/long_rows.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>
#include <heddle/spgemm/cuda/teams/walk.cuh>
#include <limits>

namespace heddle::detail {
namespace {

/// Columns of which a thread block keeps one bit each in shared memory, in words of 32.
constexpr int kWords = 1 << 13;
constexpr Index kBitColumns = Index{kWords} * kBlockColumns;

/// Columns of which a warp keeps one sum each in shared memory.
constexpr int kSums = 2048;

extern __shared__ __align__(16) char shared_memory[];

/// Sets the bits of those columns of row `row` of C that lie in first … first + kBitColumns − 1.
/// One warp per row of B.
__device__ void set_bits(const PatternFactors& factors, Index row, Index first, unsigned* words) {
  for (int w = static_cast<int>(threadIdx.x); w < kWords; w += kThreads) words[w] = 0;
  __syncthreads();
  const Index end = factors.row_offsets[row + 1];
  constexpr int kWarps = kThreads / kWarp;
  for (Index a = factors.row_offsets[row] + static_cast<int>(threadIdx.x) / kWarp; a < end;
       a += kWarps) {
    const std::int32_t k = factors.columns[a];
    const BlockRowsView& B = factors.B;
    const bool by_blocks = B.blocks != nullptr;
    const Index begin = B.offsets[k] - (by_blocks ? B.offsets[0] : 0);
    const Index last = by_blocks ? begin + B.counts[k] : B.offsets[k + 1];
    for (Index e = begin + lane_index(); e < last; e += kWarp) {
      const std::int32_t key = by_blocks ? B.blocks[e].key : block_of(B.columns[e]);
      const Index word = key - first / kBlockColumns;
      if (word >= 0 && word < kWords) {
        atomicOr(words + word, by_blocks ? B.blocks[e].mask : bit_of(B.columns[e]));
      }
    }
  }
  __syncthreads();
}

__global__ void count_kernel(PatternFactors factors, const std::int32_t* rows, RowSizes sizes) {
  const BesideOthers beside;
  unsigned* words = reinterpret_cast<unsigned*>(shared_memory);
  const Index row = rows[blockIdx.x];
  int entries = 0;
  int blocks = 0;
  for (Index first = 0; first < factors.cols; first += kBitColumns) {
    set_bits(factors, row, first, words);
    for (int w = static_cast<int>(threadIdx.x); w < kWords; w += kThreads) {
      entries += __popc(words[w]);
      blocks += words[w] != 0 ? 1 : 0;
    }
    __syncthreads();
  }
  int all_entries = 0;
  int all_blocks = 0;
  RowTeam<kThreads>::scan(entries, all_entries);
  RowTeam<kThreads>::scan(blocks, all_blocks);
  if (threadIdx.x == 0) {
    sizes.entries[row] = all_entries;
    sizes.blocks[row] = all_blocks;
  }
}

__global__ void fill_kernel(PatternFactors factors, const std::int32_t* rows,
                            const std::int64_t* row_offsets, std::int32_t* columns) {
  const BesideOthers beside;
  unsigned* words = reinterpret_cast<unsigned*>(shared_memory);
  const Index row = rows[blockIdx.x];
  std::int32_t* target = columns + row_offsets[row];
  for (Index first = 0; first < factors.cols; first += kBitColumns) {
    set_bits(factors, row, first, words);
    for (int w = static_cast<int>(threadIdx.x); w < kWords; w += kThreads) {
      unsigned bits = words[w];
      int total = 0;
      int place = RowTeam<kThreads>::scan(__popc(bits), total);
      for (; bits != 0; bits &= bits - 1) {
        target[place++] = static_cast<std::int32_t>(first) + w * kBlockColumns +
                          __ffs(static_cast<int>(bits)) - 1;
      }
      target += total;
    }
    __syncthreads();
  }
}

/// One stretch of kSums columns of a row of C per warp, with a sum per column. Of each row of B the
/// entries in the stretch are added, one row after the other.
template <class T>
__global__ void values_kernel(CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B,
                              const std::int32_t* rows, Index stretches, ProductTarget<T> C) {
  const BesideOthers beside;
  T* sums = reinterpret_cast<T*>(shared_memory);
  const int lane = lane_index();
  const Index row = rows[blockIdx.x / stretches];
  const Index first = blockIdx.x % stretches * kSums;
  const std::int32_t* columns = C.columns + C.row_offsets[row];
  const Index entries = C.row_offsets[row + 1] - C.row_offsets[row];
  const Index begin = count_below(columns, entries, first);
  const Index end = count_below(columns, entries, first + kSums);
  if (begin == end) return;
  for (int s = lane; s < kSums; s += kWarp) sums[s] = T{0};
  __syncwarp();

  const auto in_stretch = [&B, first](std::int32_t k) {
    const std::int32_t* terms = B.columns + B.row_offsets[k];
    const Index length = B.row_offsets[k + 1] - B.row_offsets[k];
    const Index from = count_below(terms, length, first);
    const Index to = count_below(terms, length, first + kSums);
    return Segment{B.row_offsets[k] + from, static_cast<int>(to - from)};
  };
  walk_terms<kWarp>(A, B, A.row_offsets[row], A.row_offsets[row + 1], in_stretch,
                    [sums, first](const Term<T>& term) {
                      sums[term.column - first] += term.factor * term.value;
                    });
  T* values = C.values + C.row_offsets[row];
  for (Index j = begin + lane; j < end; j += kWarp) values[j] = sums[columns[j] - first];
}

}  // namespace

void count_long_rows(LaunchGroup& group, const PatternFactors& factors, const std::int32_t* rows,
                     Index count, const RowSizes& sizes) {
  group.launch<kThreads>(count_kernel, count, kThreads, kWords * sizeof(unsigned), factors, rows,
                         sizes);
}

void fill_long_rows(LaunchGroup& group, const PatternFactors& factors, const std::int32_t* rows,
                    Index count, const std::int64_t* row_offsets, std::int32_t* columns) {
  group.launch<kThreads>(fill_kernel, count, kThreads, kWords * sizeof(unsigned), factors, rows,
                         row_offsets, columns);
}

template <Scalar T>
void compute_long_rows(LaunchGroup& group, const CsrView<T, DeviceSpace>& A,
                       const CsrView<T, DeviceSpace>& B, const std::int32_t* rows, Index count,
                       const ProductTarget<T>& C) {
  const Index stretches = ceil_div(B.cols, Index{kSums});
  // A grid has at most 2³¹ − 1 thread blocks.
  const Index at_once = std::max<Index>(1, std::numeric_limits<std::int32_t>::max() / stretches);
  for (Index first = 0; first < count; first += at_once) {
    group.launch<kWarp>(values_kernel<T>, std::min(at_once, count - first) * stretches, kWarp,
                        kSums * sizeof(T), A, B, rows + first, stretches, C);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                 \
  template void compute_long_rows(LaunchGroup&, const CsrView<T, DeviceSpace>&,               \
                                  const CsrView<T, DeviceSpace>&, const std::int32_t*, Index, \
                                  const ProductTarget<T>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
