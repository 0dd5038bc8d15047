#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/kernels/cuda/upload.hpp>
#include <heddle/spmm/low_precision/results.cuh>
#include <heddle/spmm/low_precision/row_matrix.hpp>
#include <type_traits>
#include <vector>

namespace heddle::detail {
namespace {

constexpr int kMostPieces = 32;  // of a row per thread block: blockIdx.y counts on
constexpr Index kMostBlocks = 1 << 16;
constexpr int kMostRows = 4;  // that a thread computes at once

/// A product with B in pieces of 16 bytes.
template <class V, class Result>
struct RowProduct {
  Index rows;
  const std::int64_t* row_offsets;
  const std::int32_t* columns;
  const V* values;
  Index pieces;
  const uint4* B;
  Index pitch_of_B;  // in pieces
  Result C;
  const std::int32_t* long_rows;
};

/// Threads of a block that compute one row.
__host__ __device__ inline int row_width(Index pieces) {
  return pieces < kMostPieces ? static_cast<int>(pieces) : kMostPieces;
}

/// Stores a piece of a row of C.
template <class V, class Result>
__device__ void finish(const RowProduct<V, Result>& p, Index row, Index piece,
                       const float (&sums)[kPerPiece<V>]) {
  const auto at = static_cast<int>(piece) * kPerPiece<V>;
  const auto index = static_cast<std::int32_t>(row);
  int exponents[kPerPiece<V>];
  exponents_of_columns(p.C, at, exponents);
  store_sums(p.C, index, exponent_of_row(p.C, index), exponents, at, sums);
}

/// The values of R rows in one column, aligned for one load.
template <class V, int R>
struct alignas(sizeof(V) * (R == 3 ? 4 : R)) RowValues {
  V of_row[R == 3 ? 4 : R];
};

/// A thread computes a piece of R rows that have their entries in the same columns.
template <class V, class Result, int R>
__global__ __launch_bounds__(kThreads) void rows_kernel(RowProduct<V, Result> p) {
  constexpr int kCount = kPerPiece<V>;
  const int width = row_width(p.pieces);
  const int in_block = static_cast<int>(threadIdx.x) / width;
  const Index row = R * (static_cast<Index>(blockIdx.x) * (kThreads / width) + in_block);
  const Index piece =
      static_cast<Index>(blockIdx.y) * kMostPieces + static_cast<int>(threadIdx.x) % width;
  if (in_block >= kThreads / width || row >= p.rows || piece >= p.pieces) return;
  const std::int64_t first = __ldg(p.row_offsets + row);
  const std::int64_t count = __ldg(p.row_offsets + row + 1) - first;
  if (R == 1 && count > RowMatrix<V>::kLongRow) return;
  const auto* values = reinterpret_cast<const RowValues<V, R>*>(p.values) + first / R;
  const std::int32_t* columns = p.columns + first;
  float sums[R][kCount] = {};
#pragma unroll 4
  for (std::int64_t k = 0; k < count; ++k) {
    const RowValues<V, R> a = values[k];
    float b[kCount];
    unpack<V>(__ldg(p.B + __ldg(columns + k) * p.pitch_of_B + piece), b);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const float a_r = widened(a.of_row[r]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) sums[r][i] = fmaf(a_r, b[i], sums[r][i]);
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) finish(p, row + r, piece, sums[r]);
}

/// A thread block per row. Groups of threads take entries at a fixed stride; their sums are added
/// in the order of the groups.
template <class V, class Result>
__global__ __launch_bounds__(kThreads) void long_rows_kernel(RowProduct<V, Result> p) {
  constexpr int kCount = kPerPiece<V>;
  __shared__ float sums[kThreads][kCount];
  const int width = row_width(p.pieces);
  const int groups = kThreads / width;
  const int group = static_cast<int>(threadIdx.x) / width;
  const int in_row = static_cast<int>(threadIdx.x) % width;
  const Index row = p.long_rows[blockIdx.x];
  const Index piece = static_cast<Index>(blockIdx.y) * kMostPieces + in_row;
  float sum[kCount] = {};
  if (group < groups && piece < p.pieces) {
#pragma unroll 4
    for (std::int64_t k = p.row_offsets[row] + group; k < p.row_offsets[row + 1]; k += groups) {
      const float a = widened(p.values[k]);
      float b[kCount];
      unpack<V>(__ldg(p.B + __ldg(p.columns + k) * p.pitch_of_B + piece), b);
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum[i] = fmaf(a, b[i], sum[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) sums[threadIdx.x][i] = sum[i];
  __syncthreads();
  if (group != 0 || piece >= p.pieces) return;
  for (int other = 1; other < groups; ++other) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum[i] += sums[other * width + in_row][i];
  }
  finish(p, row, piece, sum);
}

/// Interleaves the values of R rows.
template <class V, int R>
__global__ void interleave_kernel(CsrView<V, DeviceSpace> A, V* values) {
  auto* const grouped = reinterpret_cast<RowValues<V, R>*>(values);
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index row = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; row < A.rows;
       row += step) {
    const std::int64_t of_group = A.row_offsets[row - row % R] / R;
    for (std::int64_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      grouped[of_group + k - A.row_offsets[row]].of_row[row % R] = A.values[k];
    }
  }
}

/// broken[R] ← 1 if a row has entries in other columns than the first one of its R rows.
__global__ void compare_rows_kernel(Index rows, const std::int64_t* row_offsets,
                                    const std::int32_t* columns, int* broken) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index row = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x + 1; row < rows;
       row += step) {
    const std::int32_t* const before = columns + row_offsets[row - 1];
    const std::int32_t* const mine = columns + row_offsets[row];
    const std::int64_t count = row_offsets[row + 1] - row_offsets[row];
    bool same = count == row_offsets[row] - row_offsets[row - 1];
    for (std::int64_t k = 0; same && k < count; ++k) same = before[k] == mine[k];
    if (same) continue;
    for (int R = 2; R <= kMostRows; ++R) {
      if (row % R != 0) broken[R] = 1;
    }
  }
}

unsigned grid_for(Index threads) {
  return static_cast<unsigned>(std::min(ceil_div(threads, Index{kThreads}), kMostBlocks));
}

template <class T>
Buffer<T, DeviceSpace> duplicate(CudaContext& context, const T* values, Index count) {
  Buffer<T, DeviceSpace> copy(context, static_cast<std::size_t>(count));
  check(cudaMemcpyAsync(copy.data(), values, copy.size() * sizeof(T), cudaMemcpyDeviceToDevice,
                        context.stream()));
  return copy;
}

/// The rows of more than `longest` entries.
std::vector<std::int32_t> rows_beyond(CudaContext& context,
                                      const Buffer<std::int64_t, DeviceSpace>& row_offsets,
                                      Index longest) {
  std::vector<std::int64_t> offsets(row_offsets.size());
  context.copy_to_host(offsets.data(), row_offsets.data(), offsets.size() * sizeof(std::int64_t));
  std::vector<std::int32_t> found;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    if (offsets[row + 1] - offsets[row] > longest) found.push_back(static_cast<std::int32_t>(row));
  }
  return found;
}

/// Calls body with the integral constant R, from 1 to `kMostRows`.
template <class Body>
void with_rows(int R, const Body& body) {
  switch (R) {
    case 2:
      return body(std::integral_constant<int, 2>{});
    case 3:
      return body(std::integral_constant<int, 3>{});
    case 4:
      return body(std::integral_constant<int, 4>{});
    default:
      return body(std::integral_constant<int, 1>{});
  }
}

}  // namespace

int rows_alike(CudaContext& context, Index rows, const std::int64_t* row_offsets,
               const std::int32_t* columns) {
  int broken[kMostRows + 1] = {};
  Buffer<int, DeviceSpace> there(context, kMostRows + 1);
  context.copy_to_device(there.data(), broken, sizeof broken);
  if (rows > 0) {
    compare_rows_kernel<<<grid_for(rows), kThreads, 0, context.stream()>>>(rows, row_offsets,
                                                                           columns, there.data());
    check_launch();
  }
  context.copy_to_host(broken, there.data(), sizeof broken);
  for (int R = kMostRows; R > 1; --R) {
    if (rows % R == 0 && broken[R] == 0) return R;
  }
  return 1;
}

template <class V>
RowMatrix<V>::RowMatrix(CudaContext& context, const CsrView<V, DeviceSpace>& A) {
  row_offsets_ = duplicate(context, A.row_offsets, A.rows + 1);
  columns_ = duplicate(context, A.columns, A.nnz);
  const std::vector<std::int32_t> long_rows = rows_beyond(context, row_offsets_, kLongRow);
  long_rows_ = cuda::upload(context, long_rows);
  if (A.nnz == 0) return;
  if (long_rows.empty()) rows_at_once_ = rows_alike(context, A.rows, A.row_offsets, A.columns);
  with_rows(rows_at_once_, [&]<int R>(std::integral_constant<int, R>) {
    constexpr Index kStored = sizeof(RowValues<V, R>) / sizeof(V);
    values_ = {context, static_cast<std::size_t>(A.nnz / R * kStored)};
    interleave_kernel<V, R><<<grid_for(A.rows), kThreads, 0, context.stream()>>>(A, values_.data());
    check_launch();
  });
}

template <class V>
double RowMatrix<V>::bytes() const noexcept {
  return static_cast<double>(columns_.size() * (sizeof(V) + sizeof(std::int32_t)) +
                             row_offsets_.size() * sizeof(std::int64_t));
}

template <class V>
template <class Result>
void RowMatrix<V>::run(CudaContext& context, const ShortBlock<V>& B, const Result& C) const {
  constexpr Index kPieceBytes = sizeof(uint4);
  const RowProduct<V, Result> p{C.rows,
                                row_offsets_.data(),
                                columns_.data(),
                                values_.data(),
                                ceil_div<Index>(C.N, kPerPiece<V>),
                                reinterpret_cast<const uint4*>(B.values),
                                B.row_bytes / kPieceBytes,
                                C,
                                long_rows_.data()};
  const auto slabs = static_cast<unsigned>(ceil_div(p.pieces, Index{kMostPieces}));
  const Index groups_per_block = kThreads / row_width(p.pieces);
  with_rows(rows_at_once_, [&]<int R>(std::integral_constant<int, R>) {
    const dim3 grid(static_cast<unsigned>(ceil_div(p.rows / R, groups_per_block)), slabs);
    rows_kernel<V, Result, R><<<grid, kThreads, 0, context.stream()>>>(p);
    check_launch();
  });
  if (long_rows_.size() == 0) return;
  long_rows_kernel<<<dim3(static_cast<unsigned>(long_rows_.size()), slabs), kThreads, 0,
                     context.stream()>>>(p);
  check_launch();
}

#define HEDDLE_INSTANTIATE(V) template class RowMatrix<V>;
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
