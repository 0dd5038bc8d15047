#include <algorithm>
#include <climits>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/narrow/narrow.hpp>
#include <heddle/spmm/narrow/narrow_checks.hpp>
#include <heddle/spmm/narrow/narrow_values.cuh>
#include <type_traits>
#include <vector>

namespace heddle {
namespace {

constexpr int kMostPieces = 32;  // of a row per thread block: blockIdx.y counts on
constexpr Index kMostBlocks = 1 << 16;
constexpr int kMostRows = 4;  // that a thread computes at once

/// A product with all blocks in pieces of 16 bytes. Pitches are in pieces.
template <class V>
struct Product {
  Index rows;
  const std::int64_t* row_offsets;
  const std::int32_t* columns;
  const V* values;
  Index pieces;
  const uint4* B;
  Index pitch_of_B;
  uint4* C;
  Index pitch_of_C;
  const uint4* X;
  Index pitch_of_X;
  float alpha, beta, gamma, delta;
  const std::int32_t* long_rows;
};

/// Threads of a block that compute one row.
__host__ __device__ inline int row_width(Index pieces) {
  return pieces < kMostPieces ? static_cast<int>(pieces) : kMostPieces;
}

/// sum += entries first, first + step, … before `end`, times the rows of B that they meet.
template <class V>
__device__ inline void add_entries(const Product<V>& p, std::int64_t first, std::int64_t end,
                                   int step, Index piece, float (&sum)[detail::kPerPiece<V>]) {
#pragma unroll 4
  for (std::int64_t k = first; k < end; k += step) {
    const float a = detail::widened(p.values[k]);
    float b[detail::kPerPiece<V>];
    detail::unpack<V>(__ldg(p.B + __ldg(p.columns + k) * p.pitch_of_B + piece), b);
#pragma unroll
    for (int i = 0; i < detail::kPerPiece<V>; ++i) sum[i] = fmaf(a, b[i], sum[i]);
  }
}

/// sum += factor·piece
template <class V>
__device__ inline void add_piece(float factor, const uint4& piece,
                                 float (&sum)[detail::kPerPiece<V>]) {
  float values[detail::kPerPiece<V>];
  detail::unpack<V>(piece, values);
#pragma unroll
  for (int i = 0; i < detail::kPerPiece<V>; ++i) sum[i] = fmaf(factor, values[i], sum[i]);
}

/// Stores a piece of C = α sum + β C + γ B + δ X.
template <class V>
__device__ inline void finish(const Product<V>& p, Index row, Index piece,
                              float (&sum)[detail::kPerPiece<V>]) {
#pragma unroll
  for (int i = 0; i < detail::kPerPiece<V>; ++i) sum[i] *= p.alpha;
  uint4* const C = p.C + row * p.pitch_of_C + piece;
  if (p.beta != 0) add_piece<V>(p.beta, *C, sum);
  if (p.gamma != 0) add_piece<V>(p.gamma, __ldg(p.B + row * p.pitch_of_B + piece), sum);
  if (p.delta != 0) add_piece<V>(p.delta, __ldg(p.X + row * p.pitch_of_X + piece), sum);
  *C = detail::pack<V>(sum);
}

/// The values of R rows in one column, aligned for one load.
template <class V, int R>
struct alignas(sizeof(V) * (R == 3 ? 4 : R)) RowValues {
  V of_row[R == 3 ? 4 : R];
};

/// A thread computes a piece of R rows that have their entries in the same columns.
template <class V, int R>
__global__ __launch_bounds__(kThreads) void rows_kernel(Product<V> p) {
  constexpr int kCount = detail::kPerPiece<V>;
  const int width = row_width(p.pieces);
  const int in_block = static_cast<int>(threadIdx.x) / width;
  const Index row = R * (static_cast<Index>(blockIdx.x) * (kThreads / width) + in_block);
  const Index piece =
      static_cast<Index>(blockIdx.y) * kMostPieces + static_cast<int>(threadIdx.x) % width;
  if (in_block >= kThreads / width || row >= p.rows || piece >= p.pieces) return;
  const std::int64_t first = __ldg(p.row_offsets + row);
  const std::int64_t count = __ldg(p.row_offsets + row + 1) - first;
  if (R == 1 && count > NarrowPlan<V, CudaContext>::kLongRow) return;
  const auto* values = reinterpret_cast<const RowValues<V, R>*>(p.values) + first / R;
  const std::int32_t* columns = p.columns + first;
  float sums[R][kCount] = {};
#pragma unroll 4
  for (std::int64_t k = 0; k < count; ++k) {
    const RowValues<V, R> a = values[k];
    float b[kCount];
    detail::unpack<V>(__ldg(p.B + __ldg(columns + k) * p.pitch_of_B + piece), b);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const float a_r = detail::widened(a.of_row[r]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) sums[r][i] = fmaf(a_r, b[i], sums[r][i]);
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) finish(p, row + r, piece, sums[r]);
}

/// A thread block per row. Groups of threads take entries at a fixed stride; their sums are added
/// in the order of the groups.
template <class V>
__global__ __launch_bounds__(kThreads) void long_rows_kernel(Product<V> p) {
  constexpr int kCount = detail::kPerPiece<V>;
  __shared__ float sums[kThreads][kCount];
  const int width = row_width(p.pieces);
  const int groups = kThreads / width;
  const int group = static_cast<int>(threadIdx.x) / width;
  const int in_row = static_cast<int>(threadIdx.x) % width;
  const Index row = p.long_rows[blockIdx.x];
  const Index piece = static_cast<Index>(blockIdx.y) * kMostPieces + in_row;
  float sum[kCount] = {};
  if (group < groups && piece < p.pieces) {
    add_entries(p, p.row_offsets[row] + group, p.row_offsets[row + 1], groups, piece, sum);
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

/// values = factor·A rounded, those of R rows interleaved. `first_refused` becomes the place
/// of the first entry that is not finite then.
template <class V, class T, int R>
__global__ void round_kernel(CsrView<T, DeviceSpace> A, double factor, V* values,
                             unsigned long long* first_refused) {
  auto* const grouped = reinterpret_cast<RowValues<V, R>*>(values);
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index row = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; row < A.rows;
       row += step) {
    const std::int64_t of_group = A.row_offsets[row - row % R] / R;
    for (std::int64_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      const V value = V::round(factor * static_cast<double>(A.values[k]));
      grouped[of_group + k - A.row_offsets[row]].of_row[row % R] = value;
      if (!isfinite(detail::widened(value))) {
        atomicMin(first_refused, static_cast<unsigned long long>(k));
      }
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

/// A thread per 16 bytes of Y.
template <class V>
__global__ void narrow_kernel(const float* X, Index rows, Index cols, Index ld,
                              const double* factors, uint4* Y, Index pieces, Index pitch) {
  constexpr int kCount = detail::kPerPiece<V>;
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index k = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; k < rows * pieces;
       k += step) {
    const Index row = k / pieces;
    const Index piece = k % pieces;
    float values[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Index j = piece * kCount + i;
      values[i] =
          j < cols ? static_cast<float>(factors[j] * static_cast<double>(X[row * ld + j])) : 0.0f;
    }
    Y[row * pitch + piece] = detail::pack<V>(values);
  }
}

template <class V>
__global__ void widen_kernel(const V* X, Index pitch, const double* factors, float beta, float* Y,
                             Index rows, Index cols, Index ld) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index k = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; k < rows * cols;
       k += step) {
    const Index row = k / cols;
    const Index j = k % cols;
    const auto x = static_cast<double>(detail::widened(X[row * pitch + j]));
    const auto scaled = static_cast<float>(factors[j] * x);
    Y[row * ld + j] = beta == 0 ? scaled : beta * Y[row * ld + j] + scaled;
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
Buffer<std::int32_t, DeviceSpace> rows_beyond(CudaContext& context,
                                              const Buffer<std::int64_t, DeviceSpace>& row_offsets,
                                              Index longest) {
  std::vector<std::int64_t> offsets(row_offsets.size());
  context.copy_to_host(offsets.data(), row_offsets.data(), offsets.size() * sizeof(std::int64_t));
  std::vector<std::int32_t> found;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    if (offsets[row + 1] - offsets[row] > longest) found.push_back(static_cast<std::int32_t>(row));
  }
  Buffer<std::int32_t, DeviceSpace> rows(context, found.size());
  context.copy_to_device(rows.data(), found.data(), found.size() * sizeof(std::int32_t));
  return rows;
}

/// The largest R ≤ `kMostRows` for which each R rows from 0 on have entries in the same columns, as
/// the unknowns of a node have.
int rows_alike(CudaContext& context, Index rows, const Buffer<std::int64_t, DeviceSpace>& offsets,
               const Buffer<std::int32_t, DeviceSpace>& columns) {
  int broken[kMostRows + 1] = {};
  Buffer<int, DeviceSpace> there(context, kMostRows + 1);
  context.copy_to_device(there.data(), broken, sizeof broken);
  compare_rows_kernel<<<grid_for(rows), kThreads, 0, context.stream()>>>(
      rows, offsets.data(), columns.data(), there.data());
  check_launch();
  context.copy_to_host(broken, there.data(), sizeof broken);
  for (int R = kMostRows; R > 1; --R) {
    if (rows % R == 0 && broken[R] == 0) return R;
  }
  return 1;
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

template <class V, Scalar T>
void refuse_entry_at(CudaContext& context, const CsrView<T, DeviceSpace>& A, std::uint64_t place) {
  HostContext host(1);
  const HostCsrMatrix<T> there = fetch<T>(context, host, A);
  const std::int64_t* const offsets = there.view().row_offsets;
  const auto k = static_cast<std::int64_t>(place);
  const Index row = std::upper_bound(offsets, offsets + A.rows + 1, k) - offsets - 1;
  detail::refuse_entry(narrow_name<V>(), row, there.view().columns[k],
                       static_cast<double>(there.view().values[k]));
}

template <class V>
const uint4* pieces_of(const ConstNarrowView<V, DeviceSpace>& view) {
  return reinterpret_cast<const uint4*>(view.data());
}

}  // namespace

template <class V>
void narrow(CudaContext& context, ConstBlockView<float, DeviceSpace> X,
            ConstSmallView<double, DeviceSpace> factors, NarrowView<V, DeviceSpace> Y) {
  if (Y.empty()) return;
  const Index pieces = Y.cols() / detail::kPerPiece<V>;
  narrow_kernel<V><<<grid_for(X.rows() * pieces), kThreads, 0, context.stream()>>>(
      X.data(), X.rows(), X.cols(), X.ld(), factors.data, reinterpret_cast<uint4*>(Y.data()),
      pieces, Y.ld() / detail::kPerPiece<V>);
  check_launch();
}

template <class V>
void widen(CudaContext& context, ConstNarrowView<V, DeviceSpace> X,
           ConstSmallView<double, DeviceSpace> factors, float beta,
           BlockView<float, DeviceSpace> Y) {
  if (Y.empty()) return;
  widen_kernel<V><<<grid_for(Y.rows() * Y.cols()), kThreads, 0, context.stream()>>>(
      X.data(), X.ld(), factors.data, beta, Y.data(), Y.rows(), Y.cols(), Y.ld());
  check_launch();
}

template <class V>
template <Scalar T>
NarrowPlan<V, CudaContext>::NarrowPlan(CudaContext& context, CsrView<T, DeviceSpace> A,
                                       double factor)
    : rows_(A.rows), cols_(A.cols), nnz_(A.nnz) {
  row_offsets_ = duplicate(context, A.row_offsets, A.rows + 1);
  columns_ = duplicate(context, A.columns, A.nnz);
  long_rows_ = rows_beyond(context, row_offsets_, kLongRow);
  if (A.nnz == 0) return;
  if (long_rows_.size() == 0) rows_at_once_ = rows_alike(context, A.rows, row_offsets_, columns_);
  unsigned long long refused = ULLONG_MAX;
  Buffer<unsigned long long, DeviceSpace> first_refused(context, 1);
  context.copy_to_device(first_refused.data(), &refused, sizeof refused);
  with_rows(rows_at_once_, [&]<int R>(std::integral_constant<int, R>) {
    constexpr Index kStored = sizeof(RowValues<V, R>) / sizeof(V);
    values_ = {context, static_cast<std::size_t>(A.nnz / R * kStored)};
    round_kernel<V, T, R><<<grid_for(A.rows), kThreads, 0, context.stream()>>>(
        A, factor, values_.data(), first_refused.data());
    check_launch();
  });
  context.copy_to_host(&refused, first_refused.data(), sizeof refused);
  if (refused != ULLONG_MAX) refuse_entry_at<V>(context, A, refused);
}

template <class V>
void NarrowPlan<V, CudaContext>::multiply(CudaContext& context, float alpha,
                                          ConstNarrowView<V, DeviceSpace> B,
                                          const NarrowTerms<V, DeviceSpace>& terms,
                                          NarrowView<V, DeviceSpace> C) const {
  detail::check_narrow_shapes<V, DeviceSpace>(rows_, cols_, B, terms, C);
  if (C.empty()) return;
  constexpr Index kCount = detail::kPerPiece<V>;
  const Product<V> p{rows_,
                     row_offsets_.data(),
                     columns_.data(),
                     values_.data(),
                     C.cols() / kCount,
                     pieces_of<V>(B),
                     B.ld() / kCount,
                     reinterpret_cast<uint4*>(C.data()),
                     C.ld() / kCount,
                     pieces_of<V>(terms.X),
                     terms.X.ld() / kCount,
                     alpha,
                     terms.beta,
                     terms.gamma,
                     terms.delta,
                     long_rows_.data()};
  const auto slabs = static_cast<unsigned>(ceil_div(p.pieces, Index{kMostPieces}));
  const Index groups_per_block = kThreads / row_width(p.pieces);
  with_rows(rows_at_once_, [&]<int R>(std::integral_constant<int, R>) {
    const dim3 grid(static_cast<unsigned>(ceil_div(rows_ / R, groups_per_block)), slabs);
    rows_kernel<V, R><<<grid, kThreads, 0, context.stream()>>>(p);
    check_launch();
  });
  const auto block = static_cast<double>(rows_ * C.cols()) * sizeof(V);
  const int blocks = 2 + (terms.beta != 0 ? 1 : 0) + (terms.delta != 0 ? 1 : 0);
  context.profile().count(static_cast<double>(nnz_) * (sizeof(V) + sizeof(std::int32_t)) +
                              static_cast<double>(rows_ + 1) * sizeof(std::int64_t) +
                              blocks * block,
                          2 * static_cast<double>(nnz_) * static_cast<double>(C.cols()));
  if (long_rows_.size() == 0) return;
  long_rows_kernel<<<dim3(static_cast<unsigned>(long_rows_.size()), slabs), kThreads, 0,
                     context.stream()>>>(p);
  check_launch();
}

#define HEDDLE_INSTANTIATE_FOR(V, T) \
  template NarrowPlan<V, CudaContext>::NarrowPlan(CudaContext&, CsrView<T, DeviceSpace>, double);
#define HEDDLE_INSTANTIATE(V)                                                               \
  template void narrow<V>(CudaContext&, ConstBlockView<float, DeviceSpace>,                 \
                          ConstSmallView<double, DeviceSpace>, NarrowView<V, DeviceSpace>); \
  template void widen<V>(CudaContext&, ConstNarrowView<V, DeviceSpace>,                     \
                         ConstSmallView<double, DeviceSpace>, float,                        \
                         BlockView<float, DeviceSpace>);                                    \
  template class NarrowPlan<V, CudaContext>;                                                \
  HEDDLE_INSTANTIATE_FOR(V, float)                                                          \
  HEDDLE_INSTANTIATE_FOR(V, double)
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle
