#include <bit>
#include <cmath>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/csr_ops.hpp>

namespace heddle {
namespace {

/// An integer type whose sums are exact, so that they do not depend on their order.
using Count = unsigned long long;

/// The number of bits that the sum of the longest column may need.
constexpr int kSumBits = 62;

using detail::grid_for;
using detail::lane_index;
using detail::thread_count;
using detail::thread_index;

/// The position of A(i, i) among the entries, -1 if it is not stored.
template <class T>
__device__ std::int64_t diagonal_place(const CsrView<T, DeviceSpace>& A, Index i) {
  return detail::entry_place(A, i, i);
}

template <class U, class T>
__global__ void convert_kernel(Index count, const T* source, U* target) {
  for (Index i = thread_index(); i < count; i += thread_count()) {
    target[i] = static_cast<U>(source[i]);
  }
}

template <class T>
__global__ void extract_diagonal_kernel(CsrView<T, DeviceSpace> A, T* diagonal) {
  for (Index i = thread_index(); i < A.rows; i += thread_count()) {
    const std::int64_t place = diagonal_place(A, i);
    diagonal[i] = place < 0 ? T{0} : A.values[place];
  }
}

template <class T>
__global__ void count_missing_kernel(CsrView<T, DeviceSpace> A, Count* missing) {
  for (Index i = thread_index(); i < A.rows; i += thread_count()) {
    if (diagonal_place(A, i) < 0) atomicAdd(missing, Count{1});
  }
}

template <class T>
__global__ void shift_diagonal_kernel(CsrView<T, DeviceSpace> A, RealOf<T> shift, T* values) {
  for (Index i = thread_index(); i < A.rows; i += thread_count()) {
    const std::int64_t place = diagonal_place(A, i);
    if (place >= 0) add(T(shift), values[place]);
  }
}

/// One warp per row.
template <class T>
__global__ void scale_kernel(CsrView<T, DeviceSpace> A, const T* d, T* values) {
  const int lane = lane_index();
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    const T d_i = d[i];
    for (std::int64_t e = A.row_offsets[i] + lane; e < A.row_offsets[i + 1]; e += kWarp) {
      values[e] = product(values[e], product(d_i, d[A.columns[e]]));
    }
  }
}

/// One warp per row, whose lanes add their sums in the order of a binary tree.
template <class T>
__global__ void squared_row_norms_kernel(CsrView<T, DeviceSpace> A, std::int64_t* row_offsets,
                                         std::int32_t* columns, T* values) {
  const int lane = lane_index();
  for (Index i = thread_index() / kWarp; i <= A.rows; i += thread_count() / kWarp) {
    if (lane == 0) row_offsets[i] = i;
    if (i == A.rows) return;
    double sum = 0;
    for (std::int64_t e = A.row_offsets[i] + lane; e < A.row_offsets[i + 1]; e += kWarp) {
      sum += squared(static_cast<Wide<T>>(A.values[e]));
    }
    for (int half = kWarp / 2; half > 0; half /= 2) {
      sum += __shfl_down_sync(0xffffffffu, sum, static_cast<unsigned>(half));
    }
    if (lane != 0) continue;
    columns[i] = static_cast<std::int32_t>(i);
    values[i] = T(static_cast<RealOf<T>>(sum));
  }
}

/// One warp per row, whose lanes add their sums in the order of a binary tree.
template <class T>
__global__ void weighted_row_squares_kernel(CsrView<T, DeviceSpace> A, const T* weights,
                                            Index weights_ld, T* sums, Index sums_ld) {
  const int lane = lane_index();
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    double sum = 0;
    for (std::int64_t e = A.row_offsets[i] + lane; e < A.row_offsets[i + 1]; e += kWarp) {
      const double value = A.values[e];
      sum += value * value * static_cast<double>(weights[A.columns[e] * weights_ld]);
    }
    for (int half = kWarp / 2; half > 0; half /= 2) {
      sum += __shfl_down_sync(0xffffffffu, sum, static_cast<unsigned>(half));
    }
    if (lane == 0) sums[i * sums_ld] = static_cast<T>(sum);
  }
}

/// lengths[j] = the number of entries of column j. *largest = the bits of max|A|. The bits are
/// ordered like the numbers, with NaN above all.
template <class T>
__global__ void survey_kernel(CsrView<T, DeviceSpace> A, Count* lengths, Count* largest) {
  Count own = 0;
  for (Index e = thread_index(); e < A.nnz; e += thread_count()) {
    const double size = magnitude(A.values[e]);
    own = max(own, static_cast<Count>(__double_as_longlong(size)));
    atomicAdd(lengths + A.columns[e], Count{1});
  }
  atomicMax(largest, own);
}

/// sums[j] += Σ_i |A(i, j)|·2^exponent, each term rounded to an integer.
template <class T>
__global__ void column_sums_kernel(CsrView<T, DeviceSpace> A, int exponent, Count* sums) {
  for (Index e = thread_index(); e < A.nnz; e += thread_count()) {
    const double size = magnitude(A.values[e]);
    atomicAdd(sums + A.columns[e], static_cast<Count>(__double2ll_rn(scalbn(size, exponent))));
  }
}

__global__ void largest_kernel(Index count, const Count* values, Count* largest) {
  Count own = 0;
  for (Index j = thread_index(); j < count; j += thread_count()) own = max(own, values[j]);
  atomicMax(largest, own);
}

void clear(CudaContext& context, Buffer<Count, DeviceSpace>& buffer) {
  check(cudaMemsetAsync(buffer.data(), 0, buffer.size() * sizeof(Count), context.stream()));
}

Count fetched(CudaContext& context, const Buffer<Count, DeviceSpace>& number) {
  Count value = 0;
  context.copy_to_host(&value, number.data(), sizeof(value));
  return value;
}

Count largest_of(CudaContext& context, const Buffer<Count, DeviceSpace>& values) {
  Buffer<Count, DeviceSpace> largest(context, 1);
  clear(context, largest);
  const auto count = static_cast<Index>(values.size());
  largest_kernel<<<grid_for(context, count), kThreads, 0, context.stream()>>>(count, values.data(),
                                                                              largest.data());
  check_launch();
  return fetched(context, largest);
}

template <class T>
void copy_entries(CudaContext& context, const T* source, T* target, Index count) {
  check(cudaMemcpyAsync(target, source, static_cast<std::size_t>(count) * sizeof(T),
                        cudaMemcpyDeviceToDevice, context.stream()));
}

}  // namespace

template <Scalar T>
double norm_1(CudaContext& context, CsrView<T, DeviceSpace> A) {
  if (A.nnz == 0) return 0;
  Buffer<Count, DeviceSpace> columns(context, static_cast<std::size_t>(A.cols));
  Buffer<Count, DeviceSpace> largest(context, 1);
  clear(context, columns);
  clear(context, largest);
  const unsigned blocks = grid_for(context, A.nnz);
  survey_kernel<<<blocks, kThreads, 0, context.stream()>>>(A, columns.data(), largest.data());
  check_launch();
  const auto entry = std::bit_cast<double>(fetched(context, largest));
  if (entry == 0 || !std::isfinite(entry)) return entry;
  const Count longest = largest_of(context, columns);
  const int exponent = kSumBits - std::bit_width(longest) - (std::ilogb(entry) + 1);
  clear(context, columns);
  column_sums_kernel<<<blocks, kThreads, 0, context.stream()>>>(A, exponent, columns.data());
  check_launch();
  return std::scalbn(static_cast<double>(largest_of(context, columns)), -exponent);
}

template <Scalar T>
Buffer<T, DeviceSpace> extract_diagonal(CudaContext& context, CsrView<T, DeviceSpace> A) {
  require_square("extract_diagonal", Shape{A.rows, A.cols});
  Buffer<T, DeviceSpace> diagonal(context, static_cast<std::size_t>(A.rows));
  extract_diagonal_kernel<<<grid_for(context, A.rows), kThreads, 0, context.stream()>>>(
      A, diagonal.data());
  check_launch();
  return diagonal;
}

template <Scalar T>
CsrMatrix<T, DeviceSpace> squared_row_norms(CudaContext& context, CsrView<T, DeviceSpace> A) {
  CsrMatrix<T, DeviceSpace> squares(context, A.rows, A.rows, A.rows);
  const unsigned blocks = grid_for(context, (A.rows + 1) * kWarp);
  squared_row_norms_kernel<<<blocks, kThreads, 0, context.stream()>>>(
      A, squares.row_offsets(), squares.columns(), squares.values());
  check_launch();
  return squares;
}

template <RealScalar T>
void weighted_row_squares(CudaContext& context, CsrView<T, DeviceSpace> A,
                          ConstBlockView<T, DeviceSpace> weights, BlockView<T, DeviceSpace> sums) {
  require_same_shape("weighted_row_squares", Shape{weights.rows(), weights.cols()},
                     Shape{A.cols, 1});
  require_same_shape("weighted_row_squares", Shape{sums.rows(), sums.cols()}, Shape{A.rows, 1});
  weighted_row_squares_kernel<<<grid_for(context, A.rows * kWarp), kThreads, 0, context.stream()>>>(
      A, weights.data(), weights.ld(), sums.data(), sums.ld());
  check_launch();
}

template <Scalar T>
CsrMatrix<T, DeviceSpace> with_stored_diagonal(CudaContext& context, CsrView<T, DeviceSpace> A) {
  require_square("with_stored_diagonal", Shape{A.rows, A.cols});
  Buffer<Count, DeviceSpace> missing(context, 1);
  clear(context, missing);
  count_missing_kernel<<<grid_for(context, A.rows), kThreads, 0, context.stream()>>>(
      A, missing.data());
  check_launch();
  if (fetched(context, missing) == 0) return convert<T>(context, A);
  HostContext host;
  return place(context, with_stored_diagonal(host, fetch(context, host, A).view()));
}

template <Scalar U, Scalar T>
CsrMatrix<U, DeviceSpace> convert(CudaContext& context, CsrView<T, DeviceSpace> A) {
  CsrMatrix<U, DeviceSpace> converted(context, A.rows, A.cols, A.nnz);
  copy_entries(context, A.row_offsets, converted.row_offsets(), A.rows + 1);
  copy_entries(context, A.columns, converted.columns(), A.nnz);
  convert_kernel<<<grid_for(context, A.nnz), kThreads, 0, context.stream()>>>(A.nnz, A.values,
                                                                              converted.values());
  check_launch();
  return converted;
}

template <Scalar T>
void scale_symmetrically(CudaContext& context, const Buffer<T, DeviceSpace>& d,
                         CsrMatrix<T, DeviceSpace>& A) {
  require_square("scale_symmetrically", Shape{A.rows(), A.cols()});
  require_one_per_column("scale_symmetrically", Shape{static_cast<Index>(d.size()), 1}, A.cols());
  scale_kernel<<<grid_for(context, A.rows() * kWarp), kThreads, 0, context.stream()>>>(
      A.view(), d.data(), A.values());
  check_launch();
}

template <Scalar T>
void shift_diagonal(CudaContext& context, double shift, CsrMatrix<T, DeviceSpace>& A) {
  require_square("shift_diagonal", Shape{A.rows(), A.cols()});
  shift_diagonal_kernel<<<grid_for(context, A.rows()), kThreads, 0, context.stream()>>>(
      A.view(), static_cast<RealOf<T>>(shift), A.values());
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template double norm_1(CudaContext&, CsrView<T, DeviceSpace>);                                  \
  template Buffer<T, DeviceSpace> extract_diagonal(CudaContext&, CsrView<T, DeviceSpace>);        \
  template CsrMatrix<T, DeviceSpace> with_stored_diagonal(CudaContext&, CsrView<T, DeviceSpace>); \
  template void scale_symmetrically(CudaContext&, const Buffer<T, DeviceSpace>&,                  \
                                    CsrMatrix<T, DeviceSpace>&);                                  \
  template void shift_diagonal(CudaContext&, double, CsrMatrix<T, DeviceSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T) \
  template CsrMatrix<T, DeviceSpace> squared_row_norms(CudaContext&, CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T)                                               \
  template void weighted_row_squares(CudaContext&, CsrView<T, DeviceSpace>, \
                                     ConstBlockView<T, DeviceSpace>, BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(U, T) \
  template CsrMatrix<U, DeviceSpace> convert(CudaContext&, CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_CONVERSION(HEDDLE_INSTANTIATE)
HEDDLE_INSTANTIATE(std::complex<double>, std::complex<double>)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
