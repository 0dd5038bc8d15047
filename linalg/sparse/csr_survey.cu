#include <bit>
#include <cmath>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/csr_survey.hpp>
#include <limits>

namespace heddle {
namespace {

using Bits = unsigned long long;

using detail::entry_place;
using detail::grid_for;
using detail::lane_index;
using detail::thread_count;
using detail::thread_index;

/// The kernels' findings, in one copy. Numbers that are not negative are ordered like their bits.
struct Findings {
  Bits invalid_row;  // the number of rows if there is none
  Bits largest;
  Bits asymmetry;
  Bits off_diagonal;    // not 0 if there is an entry
  Bits least_diagonal;  // see `ordered`
};

/// Bits that are ordered like the numbers, also the negative ones.
__host__ __device__ inline Bits ordered(Bits bits) {
  constexpr Bits kSign = Bits{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

__host__ __device__ inline Bits unordered(Bits bits) {
  constexpr Bits kSign = Bits{1} << 63;
  return (bits & kSign) != 0 ? bits & ~kSign : ~bits;
}

/// One warp per row.
template <class T>
__global__ void validity_kernel(CsrView<T, DeviceSpace> A, Findings* found) {
  const int lane = lane_index();
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    const std::int64_t begin = A.row_offsets[i];
    const std::int64_t end = A.row_offsets[i + 1];
    bool valid = begin >= 0 && begin <= end && end <= A.nnz && (i > 0 || begin == 0) &&
                 (i + 1 < A.rows || end == A.nnz);
    for (std::int64_t e = begin + lane; valid && e < end; e += kWarp) {
      const std::int32_t column = A.columns[e];
      valid = column >= 0 && column < A.cols && (e == begin || A.columns[e - 1] < column);
    }
    if (!valid) atomicMin(&found->invalid_row, static_cast<Bits>(i));
  }
}

/// The largest of the numbers of a warp, in its lane 0.
__device__ inline Bits largest_of_warp(Bits own) {
  for (int half = kWarp / 2; half > 0; half /= 2) {
    own = max(own, __shfl_down_sync(0xffffffffu, own, static_cast<unsigned>(half)));
  }
  return own;
}

__device__ inline double difference(double a, double b) {
  if (a == b || (isnan(a) && isnan(b))) return 0;
  const double size = fabs(a - b);
  return isnan(size) ? INFINITY : size;
}

template <class T>
__device__ double difference_of(T a, T b) {
  if constexpr (kComplex<T>) {
    return hypot(difference(a.real(), b.real()), difference(a.imag(), b.imag()));
  } else {
    return difference(static_cast<double>(a), static_cast<double>(b));
  }
}

/// One warp per row of a valid A.
template <class T>
__global__ void findings_kernel(CsrView<T, DeviceSpace> A, Findings* found) {
  const bool square = A.rows == A.cols;
  const int lane = lane_index();
  double largest = 0;
  double asymmetry = 0;
  bool off_diagonal = false;
  Bits least_diagonal = ~Bits{0};
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    for (std::int64_t e = A.row_offsets[i] + lane; e < A.row_offsets[i + 1]; e += kWarp) {
      const T value = A.values[e];
      const double size = magnitude(value);
      const Index j = A.columns[e];
      if (isfinite(size)) largest = fmax(largest, size);
      off_diagonal = off_diagonal || (j != i && size != 0);
      if (!square) continue;
      const std::int64_t mirror = entry_place(A, j, i);
      const T other = mirror < 0 ? T{0} : A.values[mirror];
      asymmetry = fmax(asymmetry, difference_of(value, conjugate(other)));
    }
    if (square && lane == 0) {
      const std::int64_t place = entry_place(A, i, i);
      const double value = place < 0 ? 0.0 : static_cast<double>(real_part(A.values[place]));
      const Bits bits = static_cast<Bits>(__double_as_longlong(value));
      if (!isnan(value)) least_diagonal = min(least_diagonal, ordered(bits));
    }
  }
  const Bits of_warp[] = {largest_of_warp(static_cast<Bits>(__double_as_longlong(largest))),
                          largest_of_warp(static_cast<Bits>(__double_as_longlong(asymmetry))),
                          largest_of_warp(off_diagonal ? 1 : 0), largest_of_warp(~least_diagonal)};
  if (lane != 0) return;
  atomicMax(&found->largest, of_warp[0]);
  atomicMax(&found->asymmetry, of_warp[1]);
  atomicMax(&found->off_diagonal, of_warp[2]);
  atomicMin(&found->least_diagonal, ~of_warp[3]);
}

}  // namespace

template <Scalar T>
CsrSurvey survey(CudaContext& context, CsrView<T, DeviceSpace> A) {
  if (A.rows == 0) return {};
  Buffer<Findings, DeviceSpace> findings(context, 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Findings found{static_cast<Bits>(A.rows), 0, 0, 0, ordered(std::bit_cast<Bits>(kInfinity))};
  const auto run = [&](auto kernel) {
    kernel<<<grid_for(context, A.rows * kWarp), kThreads, 0, context.stream()>>>(A,
                                                                                 findings.data());
    check_launch();
    context.copy_to_host(&found, findings.data(), sizeof(found));
  };
  context.copy_to_device(findings.data(), &found, sizeof(found));
  run(validity_kernel<T>);
  if (found.invalid_row < static_cast<Bits>(A.rows)) {
    return {.invalid_row = static_cast<Index>(found.invalid_row)};
  }
  run(findings_kernel<T>);
  return {.largest = std::bit_cast<double>(found.largest),
          .asymmetry = std::bit_cast<double>(found.asymmetry),
          .diagonal = found.off_diagonal == 0,
          .least_diagonal =
              A.rows == A.cols ? std::bit_cast<double>(unordered(found.least_diagonal)) : 0.0};
}

#define HEDDLE_INSTANTIATE(T) template CsrSurvey survey<T>(CudaContext&, CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
