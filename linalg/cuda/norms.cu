#include <heddle/linalg/block_checks.hpp>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/cuda/check.hpp>
#include <heddle/linalg/cuda/kernel.cuh>
#include <heddle/linalg/cuda_context.hpp>

namespace heddle {
namespace {

/// A sum of squares kept in three parts, so that squares neither overflow nor underflow.
/// Source: Blue, A portable Fortran program to find the Euclidean norm of a vector, TOMS 4 (1978);
/// constants for IEEE double as in Anderson, TOMS 44 (2018) 12.
struct SquareSum {
  static constexpr double kSmall = 0x1p-511;
  static constexpr double kLarge = 0x1p486;
  static constexpr double kScaleSmall = 0x1p537;
  static constexpr double kScaleLarge = 0x1p-538;

  double small;
  double medium;
  double large;

  /// NaN fails both comparisons and ends up in `medium`.
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

  __device__ double norm() const {
    if (large > 0) return sqrt(large + medium * kScaleLarge * kScaleLarge) / kScaleLarge;
    if (small > 0) {
      const double below = sqrt(small) / kScaleSmall;
      return medium == 0 ? below : hypot(sqrt(medium), below);
    }
    return sqrt(medium);
  }
};

constexpr int kBatch = 4;

/// Four blocks for each of the 132 multiprocessors of an H200, no lower than what pays for a start.
constexpr Index kMaxSlabs = 528;
constexpr Index kMinSlabRows = 256;

/// Adds the sums of a thread block's rows up, row 0 first in a binary tree, into row 0.
__device__ void add_rows(SquareSum* sums, RowLayout layout) {
  for (int half = layout.rows_per_block() / 2; half > 0; half /= 2) {
    __syncthreads();
    if (layout.row() < half) sums[threadIdx.x].add(sums[threadIdx.x + half * layout.width()]);
  }
}

/// partials[slab·cols + c] = Σ value(i, c)² over the slab's rows; value.load first for a batch of
/// rows, then value.store, so that the loads of a batch overlap.
template <class Value>
__global__ void square_sums_kernel(DeviceSlabs slabs, int cols, RowLayout layout, Value value,
                                   SquareSum* partials) {
  __shared__ SquareSum sums[kThreads];
  const int c = static_cast<int>(blockIdx.y) * layout.width() + layout.column();
  const Index first = Index{blockIdx.x} * slabs.height;
  const Index end = min(first + slabs.height, slabs.rows);
  const int step = layout.rows_per_block();
  SquareSum sum{0, 0, 0};
  if (c < cols) {
    for (Index i = first + layout.row(); i < end; i += kBatch * step) {
      double batch[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        batch[k] = i + k * step < end ? value.load(i + k * step, c) : 0;
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (i + k * step < end) sum.add(value.store(i + k * step, c, batch[k]));
      }
    }
  }
  sums[threadIdx.x] = sum;
  add_rows(sums, layout);
  if (layout.row() == 0 && c < cols) partials[Index{blockIdx.x} * cols + c] = sums[threadIdx.x];
}

/// norms[c] = √ of the slabs' sums in a fixed order: one block a column.
__global__ void norms_kernel(int slab_count, int cols, const SquareSum* partials, double* norms) {
  __shared__ SquareSum sums[kThreads];
  const int c = static_cast<int>(blockIdx.x);
  SquareSum sum{0, 0, 0};
  for (int slab = static_cast<int>(threadIdx.x); slab < slab_count; slab += kThreads) {
    sum.add(partials[Index{slab} * cols + c]);
  }
  sums[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x].add(sums[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) norms[c] = sums[0].norm();
}

/// Bytes moved: what `value` reads and writes, once.
template <class Value>
void launch_column_norms(CudaContext& context, Index rows, Index cols, const Value& value,
                         SmallView<DeviceSpace> norms) {
  if (cols == 0) return;
  const RowLayout layout(cols);
  const DeviceSlabs slabs = device_slabs(rows, kMaxSlabs, kMinSlabRows);
  const Index slab_count = slabs.count();
  auto* partials = static_cast<SquareSum*>(
      context.scratch(sizeof(SquareSum) * static_cast<std::size_t>(slab_count * cols)));
  const dim3 grid(static_cast<unsigned>(slab_count),
                  static_cast<unsigned>(ceil_div<Index>(cols, layout.width())));
  square_sums_kernel<<<grid, kThreads, 0, context.stream()>>>(slabs, static_cast<int>(cols), layout,
                                                              value, partials);
  check_launch();
  norms_kernel<<<static_cast<unsigned>(cols), kThreads, 0, context.stream()>>>(
      static_cast<int>(slab_count), static_cast<int>(cols), partials, norms.data);
  check_launch();
}

template <class T>
struct Entry {
  const T* data;
  Index ld;
  __device__ double load(Index i, int c) const { return static_cast<double>(data[i * ld + c]); }
  __device__ double store(Index, int, double x) const { return x; }
};

/// Stores a residual's entry and gives back what was stored.
template <class T>
struct ResidualEntry {
  const T* ax;
  Index ax_ld;
  const T* bx;
  Index bx_ld;
  const double* theta;
  T* r;
  Index r_ld;
  __device__ double load(Index i, int c) const {
    return static_cast<double>(ax[i * ax_ld + c]) -
           static_cast<double>(bx[i * bx_ld + c]) * theta[c];
  }
  __device__ double store(Index i, int c, double x) const {
    const T rounded = static_cast<T>(x);
    r[i * r_ld + c] = rounded;
    return static_cast<double>(rounded);
  }
};

}  // namespace

template <Scalar T>
void column_norms(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                  SmallView<DeviceSpace> norms) {
  require_one_per_column("column_norms", norms, X.cols());
  launch_column_norms(context, X.rows(), X.cols(), Entry<T>{X.data(), X.ld()}, norms);
  context.profile().count(bytes(X), 2 * entries(X));
}

template <Scalar T>
void residual(CudaContext& context, ConstBlockView<T, DeviceSpace> AX,
              ConstBlockView<T, DeviceSpace> BX, ConstSmallView<DeviceSpace> theta,
              BlockView<T, DeviceSpace> R, SmallView<DeviceSpace> norms) {
  require_same_shape("residual", AX, BX);
  require_same_shape("residual", AX, R);
  require_one_per_column("residual", theta, AX.cols());
  require_one_per_column("residual", norms, AX.cols());
  launch_column_norms(
      context, AX.rows(), AX.cols(),
      ResidualEntry<T>{AX.data(), AX.ld(), BX.data(), BX.ld(), theta.data, R.data(), R.ld()},
      norms);
  context.profile().count(3 * bytes(AX), 4 * entries(AX));
}

template void column_norms(CudaContext&, ConstBlockView<float, DeviceSpace>,
                           SmallView<DeviceSpace>);
template void column_norms(CudaContext&, ConstBlockView<double, DeviceSpace>,
                           SmallView<DeviceSpace>);
template void residual(CudaContext&, ConstBlockView<float, DeviceSpace>,
                       ConstBlockView<float, DeviceSpace>, ConstSmallView<DeviceSpace>,
                       BlockView<float, DeviceSpace>, SmallView<DeviceSpace>);
template void residual(CudaContext&, ConstBlockView<double, DeviceSpace>,
                       ConstBlockView<double, DeviceSpace>, ConstSmallView<DeviceSpace>,
                       BlockView<double, DeviceSpace>, SmallView<DeviceSpace>);

}  // namespace heddle
