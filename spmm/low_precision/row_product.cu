#include <algorithm>
#include <bit>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/kernels/cuda/dependent_launch.cuh>
#include <heddle/spmm/low_precision/row_product.hpp>
#include <heddle/spmm/narrow/narrow_values.cuh>

namespace heddle::detail {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kBatch = 8;  // entries whose loads a thread has under way at a time

template <class V>
using Sums = float[kPerPiece<V>];

/// The entries from, from + step, … of a row, one batch of them.
template <class V>
struct Entries {
  std::int32_t column[kBatch];  ///< −1: none
  V value[kBatch];

  __device__ void load(const std::int32_t* columns, const V* values, int from, int end, int step) {
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const int k = from + u * step;
      column[u] = k < end ? __ldg(columns + k) : -1;
      if (k < end) value[u] = {__ldg(&values[k].bits)};
    }
  }

  /// Adds the products with the rows of B, of which this thread takes 16 bytes.
  __device__ void multiply(const ShortBlock<V>& B, Index at, Sums<V>& sums) const {
    uint4 rows[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (column[u] >= 0) {
        rows[u] = __ldg(reinterpret_cast<const uint4*>(B.values + column[u] * B.pitch + at));
      }
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (column[u] < 0) continue;
      float b[kPerPiece<V>];
      unpack<V>(rows[u], b);
      const float a = widened(value[u]);
#pragma unroll
      for (int j = 0; j < kPerPiece<V>; ++j) sums[j] = fmaf(a, b[j], sums[j]);
    }
  }
};

/// The sums over the entries from, from + step, … of a row of `count` entries, the first of which
/// is `first`. A is read before the kernel before has ended.
template <class V>
__device__ void add_entries(const RowProduct<V>& p, Index first, int count, int from, int step,
                            Index at, Sums<V>& sums) {
  const std::int32_t* const columns = p.columns + first;
  const V* const values = p.values + first;
  Entries<V> entries;
  entries.load(columns, values, from, count, step);
  cuda::wait_for_first_pass();
  for (int k = from; k < count; k += kBatch * step) {
    if (k > from) entries.load(columns, values, k, count, step);
    entries.multiply(p.B, at, sums);
  }
}

/// Adds the sums of neighbouring lanes, `lanes` of them, in pairs.
template <class V>
__device__ void add_lanes(int lanes, Sums<V>& sums) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (float& sum : sums) sum += __shfl_xor_sync(kAllLanes, sum, distance);
  }
}

/// Scales a row's sums back and stores them.
template <class V>
__device__ void store(const RowProduct<V>& p, Index row, int exponent, Index at,
                      const Sums<V>& sums) {
#pragma unroll
  for (int j = 0; j < kPerPiece<V>; ++j) {
    if (at + j >= p.N) return;
    const int of_column = p.column_exponents == nullptr ? 0 : p.column_exponents[at + j];
    p.C[row * p.ldc + at + j] = ldexpf(sums[j], -exponent - of_column);
  }
}

/// A thread block sums a long row: its warps their shares, the first warp those of all warps.
template <class V>
__device__ void multiply_long_row(const RowProduct<V>& p, Index at) {
  __shared__ float shared[kThreads / kWarp][kPerPiece<V>];
  const Index row = p.long_rows[blockIdx.x];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  Sums<V> sums = {};
  const Index first = p.row_offsets[row];
  add_entries<V>(p, first, static_cast<int>(p.row_offsets[row + 1] - first),
                 static_cast<int>(threadIdx.x), kThreads, at, sums);
  add_lanes<V>(kWarp, sums);
  if (lane == 0) {
#pragma unroll
    for (int j = 0; j < kPerPiece<V>; ++j) shared[threadIdx.x / kWarp][j] = sums[j];
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < kThreads / kWarp; ++warp) {
#pragma unroll
    for (int j = 0; j < kPerPiece<V>; ++j) sums[j] += shared[warp][j];
  }
  store<V>(p, row, p.row_exponents[row], at, sums);
}

/// 2^lane_exponent lanes sum a row. blockIdx.y is the piece of 16 bytes of the rows of B. The first
/// thread blocks take the long rows.
template <class V>
__global__ __launch_bounds__(kThreads, 3) void row_product_kernel(RowProduct<V> p) {
  cuda::allow_next_pass();
  const Index at = static_cast<Index>(blockIdx.y) * kPerPiece<V>;
  if (blockIdx.x < p.long_count) return multiply_long_row<V>(p, at);
  const int lanes = 1 << p.lane_exponent;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const Index row =
      ((static_cast<Index>(blockIdx.x) - p.long_count) * kThreads + threadIdx.x) >> p.lane_exponent;
  const Index first = row < p.rows ? p.row_offsets[row] : 0;
  const int count = row < p.rows ? static_cast<int>(p.row_offsets[row + 1] - first) : 0;
  const bool is_long = count > kLongShortRow;
  const int exponent = row < p.rows ? p.row_exponents[row] : 0;
  Sums<V> sums = {};
  add_entries<V>(p, first, is_long ? 0 : count, lane, lanes, at, sums);
  add_lanes<V>(lanes, sums);
  if (row < p.rows && !is_long && lane == 0) store<V>(p, row, exponent, at, sums);
}

}  // namespace

int lane_exponent(Index rows, Index nnz) noexcept {
  constexpr Index kMost = 4;  // a row per half warp
  const Index batches = rows > 0 ? ceil_div(nnz, rows * Index{kBatch}) : 0;
  const auto exponent = std::bit_width(static_cast<std::uint64_t>(std::max<Index>(batches, 1) - 1));
  return static_cast<int>(std::min<Index>(exponent, kMost));
}

template <class V>
void multiply_rows(CudaContext& context, const RowProduct<V>& p) {
  if (p.rows == 0 || p.N == 0) return;
  const Index short_blocks = ceil_div(p.rows << p.lane_exponent, Index{kThreads});
  const dim3 grid(static_cast<unsigned>(p.long_count + short_blocks),
                  static_cast<unsigned>(ceil_div(p.N, Index{kPerPiece<V>})));
  cuda::launch_second_pass(row_product_kernel<V>, grid, dim3(kThreads), context.stream(), p);
}

#define HEDDLE_INSTANTIATE(V) template void multiply_rows(CudaContext&, const RowProduct<V>&);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
