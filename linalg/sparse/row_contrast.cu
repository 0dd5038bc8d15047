#include <bit>
#include <cmath>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/row_contrast.hpp>
#include <limits>

namespace heddle {
namespace {

using Bits = unsigned long long;

using detail::grid_for;
using detail::lane_index;
using detail::thread_count;
using detail::thread_index;

/// Bits of numbers that are not negative, which are ordered like these.
struct Span {
  Bits least;
  Bits most;
};

template <class T>
__device__ double size_of(const T* diagonal, Index i) {
  return magnitude(diagonal[i]);
}

/// One warp per row. `mass`: null if B is the identity.
template <class T>
__global__ void span_kernel(CsrView<T, DeviceSpace> A, const T* diagonal, const T* mass,
                            Span* found) {
  const int lane = lane_index();
  double least = INFINITY;
  double most = 0;
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    double size = 0;
    for (std::int64_t e = A.row_offsets[i] + lane; e < A.row_offsets[i + 1]; e += kWarp) {
      const double entry = magnitude(A.values[e]);
      const Index j = A.columns[e];
      const double other = size_of(diagonal, j);
      size = fmax(size, j != i && other > entry ? entry * (entry / other) : entry);
    }
    for (int half = kWarp / 2; half > 0; half /= 2) {
      size = fmax(size, __shfl_down_sync(0xffffffffu, size, static_cast<unsigned>(half)));
    }
    const double ratio = mass != nullptr ? size / size_of(mass, i) : size;
    if (lane != 0 || !(ratio > 0) || !isfinite(ratio)) continue;
    least = fmin(least, ratio);
    most = fmax(most, ratio);
  }
  if (lane != 0) return;
  atomicMin(&found->least, static_cast<Bits>(__double_as_longlong(least)));
  atomicMax(&found->most, static_cast<Bits>(__double_as_longlong(most)));
}

/// A column of a block, one number per row.
template <class T>
struct Column {
  T* data;
  Index ld;

  __device__ T& operator[](Index i) const { return data[i * ld]; }
};

/// `sums`: of the absolute values in the rows.
template <class T>
__global__ void mark_kernel(Index rows, const T* diagonal, Column<const T> sums, double factor,
                            Column<T> marks) {
  for (Index i = thread_index(); i < rows; i += thread_count()) {
    const double own = size_of(diagonal, i);
    const double others = magnitude(sums[i]) - own;
    marks[i] = own > 0 && own >= factor * others ? T{1} : T{0};
  }
}

/// One warp per row.
template <class T>
__global__ void leave_out_kernel(CsrView<T, DeviceSpace> A, const T* diagonal, double factor,
                                 Column<const T> marks, Column<T> left) {
  const int lane = lane_index();
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    bool stays = marks[i] != T{0};
    for (std::int64_t e = A.row_offsets[i] + lane; e < A.row_offsets[i + 1]; e += kWarp) {
      const Index j = A.columns[e];
      if (j == i || A.values[e] == T{0} || marks[j] != T{0}) continue;
      stays = stays && size_of(diagonal, i) >= factor * size_of(diagonal, j);
    }
    stays = __all_sync(0xffffffffu, stays);
    if (lane == 0) left[i] = stays ? T{1} : T{0};
  }
}

}  // namespace

template <Scalar T>
double row_span(CudaContext& context, CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B) {
  if (A.rows == 0) return 1;
  const Buffer<T, DeviceSpace> diagonal = extract_diagonal(context, A);
  Buffer<T, DeviceSpace> mass;
  if (B.rows > 0) mass = extract_diagonal(context, B);
  Buffer<Span, DeviceSpace> there(context, 1);
  Span found{std::bit_cast<Bits>(std::numeric_limits<double>::infinity()), 0};
  context.copy_to_device(there.data(), &found, sizeof(found));
  span_kernel<T><<<grid_for(context, A.rows * kWarp), kThreads, 0, context.stream()>>>(
      A, diagonal.data(), B.rows > 0 ? mass.data() : nullptr, there.data());
  check_launch();
  context.copy_to_host(&found, there.data(), sizeof(found));
  return found.most > 0 ? std::bit_cast<double>(found.most) / std::bit_cast<double>(found.least)
                        : 1;
}

template <Scalar T>
void mark_dominant_rows(CudaContext& context, CsrView<T, DeviceSpace> A, double factor,
                        BlockView<T, DeviceSpace> marks) {
  if (A.rows == 0) return;
  const Buffer<T, DeviceSpace> diagonal = extract_diagonal(context, A);
  MultiVector<T, DeviceSpace> sums(context, A.rows, 1);
  absolute_row_sums<T>(context, A, sums.view());
  mark_kernel<T><<<grid_for(context, A.rows), kThreads, 0, context.stream()>>>(
      A.rows, diagonal.data(), {sums.view().data(), sums.ld()}, factor, {marks.data(), marks.ld()});
  check_launch();
}

template <Scalar T>
void leave_out_like_neighbours(CudaContext& context, CsrView<T, DeviceSpace> A, double factor,
                               ConstBlockView<T, DeviceSpace> marks,
                               BlockView<T, DeviceSpace> left) {
  if (A.rows == 0) return;
  const Buffer<T, DeviceSpace> diagonal = extract_diagonal(context, A);
  leave_out_kernel<T><<<grid_for(context, A.rows * kWarp), kThreads, 0, context.stream()>>>(
      A, diagonal.data(), factor, {marks.data(), marks.ld()}, {left.data(), left.ld()});
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template double row_span<T>(CudaContext&, CsrView<T, DeviceSpace>, CsrView<T, DeviceSpace>); \
  template void mark_dominant_rows<T>(CudaContext&, CsrView<T, DeviceSpace>, double,           \
                                      BlockView<T, DeviceSpace>);                              \
  template void leave_out_like_neighbours<T>(CudaContext&, CsrView<T, DeviceSpace>, double,    \
                                             ConstBlockView<T, DeviceSpace>,                   \
                                             BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
