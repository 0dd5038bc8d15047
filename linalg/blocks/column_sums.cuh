#pragma once

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/small_matrix.hpp>

/// Shared by the kernels that sum over the rows of a block: sums of squares, and results from the
/// sums of slabs of rows.
namespace heddle {

/// A sum of squares in three parts (small, medium and large terms), so that squares neither
/// overflow nor underflow. Source: Blue, A portable Fortran program to find the Euclidean norm of a
/// vector, TOMS 4 (1978). The constants for IEEE double are those of Anderson, TOMS 44 (2018) 12.
struct SquareSum {
  static constexpr double kSmall = 0x1p-511;
  static constexpr double kLarge = 0x1p486;
  static constexpr double kScaleSmall = 0x1p537;
  static constexpr double kScaleLarge = 0x1p-538;

  double small;
  double medium;
  double large;

  /// NaN fails both comparisons and is added to `medium`.
  __device__ void add(double x) {
    const double size = fabs(x);
    if (size > kLarge) {
      large += (size * kScaleLarge) * (size * kScaleLarge);
    } else if (size < kSmall) {
      small += (size * kScaleSmall) * (size * kScaleSmall);
    } else {
      medium += size * size;
    }
  }

  __device__ void add(const SquareSum& other) {
    small += other.small;
    medium += other.medium;
    large += other.large;
  }

  __device__ double result() const {
    if (large > 0) return sqrt(large + medium * kScaleLarge * kScaleLarge) / kScaleLarge;
    if (small > 0) {
      const double below = sqrt(small) / kScaleSmall;
      return medium == 0 ? below : hypot(sqrt(medium), below);
    }
    return sqrt(medium);
  }
};

/// totals[c] = the sum of the slabs' sums, added in a fixed order by one thread block per column,
/// and results[c] = its result. Either may be null.
template <class Sum>
__global__ void results_kernel(int slab_count, int cols, const Sum* partials, Sum* totals,
                               double* results) {
  __shared__ Sum sums[kThreads];
  const int c = static_cast<int>(blockIdx.x);
  Sum sum{};
  for (int slab = static_cast<int>(threadIdx.x); slab < slab_count; slab += kThreads) {
    sum.add(partials[Index{slab} * cols + c]);
  }
  sums[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x].add(sums[threadIdx.x + half]);
  }
  if (threadIdx.x > 0) return;
  if (totals != nullptr) totals[c] = sums[0];
  if (results != nullptr) results[c] = sums[0].result();
}

/// Bytes for the sums of the slabs, and one more for `launch_results`.
template <class Sum>
std::size_t partials_bytes(Index slab_count, Index cols) {
  return sizeof(Sum) * static_cast<std::size_t>((slab_count + 1) * cols);
}

/// Queues results[c] = the result of the sum of partials[slab·cols + c] over the slabs of all
/// processes. `partials` has `partials_bytes`.
template <class Sum>
void launch_results(CudaContext& context, Index slab_count, Index cols, Sum* partials,
                    SmallView<double, DeviceSpace> results) {
  const auto launch = [&](Index count, const Sum* sums, Sum* totals, double* numbers) {
    results_kernel<Sum><<<static_cast<unsigned>(cols), kThreads, 0, context.stream()>>>(
        static_cast<int>(count), static_cast<int>(cols), sums, totals, numbers);
    check_launch();
  };
  if (context.processes() == nullptr) return launch(slab_count, partials, nullptr, results.data);
  // The sums of all processes are added before a result, such as a root, is taken.
  const Index numbers = static_cast<Index>(sizeof(Sum) / sizeof(double)) * cols;
  Sum* const totals = partials + slab_count * cols;
  launch(slab_count, partials, totals, nullptr);
  sum_over_processes(context, {{reinterpret_cast<double*>(totals), numbers, 1, numbers}});
  launch(1, totals, nullptr, results.data);
}

}  // namespace heddle
