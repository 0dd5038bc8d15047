#include <climits>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/narrow_block.hpp>
#include <heddle/spmm/low_precision/narrow_values.cuh>
#include <heddle/spmm/low_precision/rounding.hpp>
#include <type_traits>

namespace heddle::detail {
namespace {

constexpr int kRowsPerPass = kThreads / kWarp;
constexpr Index kPiece = 16;  // bytes that a thread stores at a time

/// The largest exponent over the threads of a thread block that have the same column, in the first
/// of them.
__device__ int largest_of_column(int mine) {
  __shared__ int shared[kRowsPerPass][kWarp];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  shared[threadIdx.x / kWarp][lane] = mine;
  __syncthreads();
  int most = mine;
  for (int row = 0; row < kRowsPerPass; ++row) most = max(most, shared[row][lane]);
  __syncthreads();
  return most;
}

/// Thread blocks find the largest exponents of their rows. The one that comes last takes the
/// largest of all. Maxima do not depend on the order.
template <class V, class T>
__global__ __launch_bounds__(kThreads) void exponents_kernel(Rounding<V, T> r) {
  cuda::allow_next_kernel();
  cuda::wait_for_previous_kernel();
  const Index column = static_cast<Index>(blockIdx.y) * kWarp + threadIdx.x % kWarp;
  const Index row = threadIdx.x / kWarp;
  const bool inside = column < r.N;
  int most = INT_MIN;
  for (Index i = static_cast<Index>(blockIdx.x) * kRowsPerPass + row; inside && i < r.B_rows;
       i += static_cast<Index>(gridDim.x) * kRowsPerPass) {
    const T value = r.B[i * r.row_step + column];
    if (value != T{0} && isfinite(value)) most = max(most, ilogb(value));
  }
  most = largest_of_column(most);
  if (inside && row == 0) r.largest[column * kExponentBlocks + blockIdx.x] = most;
  __threadfence();
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(r.arrived + blockIdx.y, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  most = INT_MIN;
  for (Index k = row; inside && k < gridDim.x; k += kRowsPerPass) {
    most = max(most, __ldcg(r.largest + column * kExponentBlocks + k));
  }
  most = largest_of_column(most);
  if (inside && row == 0) r.exponents[column] = most == INT_MIN ? 0 : kScaledExponent - most;
}

template <class V, class T>
__device__ V rounded(const Rounding<V, T>& r, const T& value, Index column) {
  if constexpr (std::is_same_v<V, T>) {
    return value;
  } else {
    const auto wide = static_cast<double>(value);
    if (r.factors != nullptr) return V::round(r.factors[column] * wide);
    const int exponent = r.exponents == nullptr ? 0 : r.exponents[column];
    return V::round(exponent == 0 ? wide : ldexp(wide, exponent));
  }
}

/// A row of the result per group of neighbouring threads, 16 bytes per thread.
template <class V, class T>
__global__ __launch_bounds__(kThreads) void round_kernel(Rounding<V, T> r, RowLayout layout) {
  constexpr int kValues = static_cast<int>(kPiece) / static_cast<int>(sizeof(V));
  cuda::allow_next_kernel();
  cuda::wait_for_previous_kernel();
  if (!layout.has_row()) return;
  const Index step = static_cast<Index>(gridDim.x) * layout.rows_per_block();
  for (Index i = static_cast<Index>(blockIdx.x) * layout.rows_per_block() + layout.row();
       i < r.rows; i += step) {
    const bool inside = i < r.B_rows;
    const Index row = inside && r.order != nullptr ? r.order[i] : i;
    for (Index at = layout.column() * kValues; at < r.columns; at += layout.width() * kValues) {
      struct alignas(kPiece) Piece {
        V values[kValues];
      } piece{};
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        if (!inside || at + k >= r.N) continue;
        piece.values[k] = rounded(r, r.B[row * r.row_step + at + k], at + k);
      }
      *reinterpret_cast<Piece*>(r.result + i * r.pitch + at) = piece;
    }
  }
}

/// A thread per row.
template <class V, class T>
__global__ void round_values_kernel(CsrView<T, DeviceSpace> A, double factor, bool scaled,
                                    std::int32_t* exponents, V* values, int* refused) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index row = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; row < A.rows;
       row += step) {
    double most = 0;
    for (std::int64_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      const double value = factor * static_cast<double>(A.values[k]);
      if (!isfinite(value) || (!scaled && fabs(value) > V::kLargest)) *refused = 1;
      most = fmax(most, fabs(value));
    }
    const int exponent = scaled && most > 0 ? kScaledExponent - ilogb(most) : 0;
    exponents[row] = exponent;
    for (std::int64_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      values[k] = V::round(ldexp(factor * static_cast<double>(A.values[k]), exponent));
    }
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
    const auto x = static_cast<double>(widened(X[row * pitch + j]));
    const auto scaled = static_cast<float>(factors[j] * x);
    Y[row * ld + j] = beta == 0 ? scaled : beta * Y[row * ld + j] + scaled;
  }
}

unsigned grid_for(Index threads) {
  constexpr Index kMostBlocks = 1 << 16;
  return static_cast<unsigned>(std::min(ceil_div(threads, Index{kThreads}), kMostBlocks));
}

}  // namespace

template <class V, Scalar T>
RoundedValues<V> round_values(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                              RangeScaling scaling, double factor) {
  RoundedValues<V> rounded;
  rounded.values = {context, static_cast<std::size_t>(A.nnz)};
  rounded.row_exponents = {context, static_cast<std::size_t>(A.rows)};
  if (A.rows == 0) return rounded;
  Buffer<int, DeviceSpace> refused(context, 1);
  int found = 0;
  context.copy_to_device(refused.data(), &found, sizeof found);
  round_values_kernel<V, T><<<grid_for(A.rows), kThreads, 0, context.stream()>>>(
      A, factor, scaling == RangeScaling::powers_of_two, rounded.row_exponents.data(),
      rounded.values.data(), refused.data());
  check_launch();
  context.copy_to_host(&found, refused.data(), sizeof found);
  rounded.refused = found != 0;
  return rounded;
}

template <class V, class T>
void find_column_exponents(CudaContext& context, const Rounding<V, T>& r) {
  constexpr Index kLeastRows = 4 * kRowsPerPass;
  const Index blocks = std::clamp<Index>(ceil_div(r.B_rows, kLeastRows), 1, kExponentBlocks);
  const dim3 grid(static_cast<unsigned>(blocks),
                  static_cast<unsigned>(ceil_div(r.N, Index{kWarp})));
  cuda::launch_dependent(exponents_kernel<V, T>, {grid, dim3(kThreads)}, context.stream(), r);
}

template <class V, class T>
void round_block(CudaContext& context, const Rounding<V, T>& r) {
  if (r.rows == 0) return;
  const RowLayout layout(r.columns * static_cast<Index>(sizeof(V)) / kPiece);
  const Index most = Index{16} * context.device().multiprocessors;
  const Index blocks = std::min(ceil_div(r.rows, Index{layout.rows_per_block()}), most);
  const dim3 grid(static_cast<unsigned>(blocks));
  cuda::launch_dependent(round_kernel<V, T>, {grid, dim3(kThreads)}, context.stream(), r, layout);
}

#define HEDDLE_INSTANTIATE_FOR(V, T)                                                   \
  template RoundedValues<V> round_values(CudaContext&, const CsrView<T, DeviceSpace>&, \
                                         RangeScaling, double);                        \
  template void find_column_exponents(CudaContext&, const Rounding<V, T>&);            \
  template void round_block(CudaContext&, const Rounding<V, T>&);
#define HEDDLE_INSTANTIATE(V)       \
  HEDDLE_INSTANTIATE_FOR(V, float)  \
  HEDDLE_INSTANTIATE_FOR(V, double) \
  template void round_block(CudaContext&, const Rounding<V, V>&);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle::detail

namespace heddle {

template <class V>
void narrow(CudaContext& context, ConstBlockView<float, DeviceSpace> X,
            ConstSmallView<double, DeviceSpace> factors, NarrowView<V, DeviceSpace> Y) {
  if (Y.empty()) return;
  detail::Rounding<V, float> rounding;
  rounding.B = X.data();
  rounding.B_rows = rounding.rows = X.rows();
  rounding.N = X.cols();
  rounding.row_step = X.ld();
  rounding.factors = factors.data;
  rounding.result = Y.data();
  rounding.columns = Y.cols();
  rounding.pitch = Y.ld();
  detail::round_block(context, rounding);
}

template <class V>
void widen(CudaContext& context, ConstNarrowView<V, DeviceSpace> X,
           ConstSmallView<double, DeviceSpace> factors, float beta,
           BlockView<float, DeviceSpace> Y) {
  if (Y.empty()) return;
  detail::widen_kernel<V><<<detail::grid_for(Y.rows() * Y.cols()), kThreads, 0, context.stream()>>>(
      X.data(), X.ld(), factors.data, beta, Y.data(), Y.rows(), Y.cols(), Y.ld());
  check_launch();
}

#define HEDDLE_INSTANTIATE(V)                                                               \
  template void narrow<V>(CudaContext&, ConstBlockView<float, DeviceSpace>,                 \
                          ConstSmallView<double, DeviceSpace>, NarrowView<V, DeviceSpace>); \
  template void widen<V>(CudaContext&, ConstNarrowView<V, DeviceSpace>,                     \
                         ConstSmallView<double, DeviceSpace>, float,                        \
                         BlockView<float, DeviceSpace>);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
