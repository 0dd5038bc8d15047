#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/process_sums.hpp>

namespace heddle {
namespace {

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

/// A plain sum.
struct ProductSum {
  double sum;

  __device__ void add(double x) { sum += x; }
  __device__ void add(const ProductSum& other) { sum += other.sum; }
  __device__ double result() const { return sum; }
};

constexpr int kBatch = 4;

/// The largest number of slabs per multiprocessor (a slab is summed by one thread block), and the
/// smallest number of rows worth a thread block.
constexpr Index kSlabsPerMultiprocessor = 8;
constexpr Index kMinSlabRows = 256;

/// Thread blocks that a multiprocessor has registers for, so that the slabs are summed in two
/// turns.
constexpr int kResidentBlocks = 4;

/// Adds the sums of a thread block's rows into row 0, in the order of a binary tree.
template <class Sum>
__device__ void add_rows(Sum* sums, RowLayout layout) {
  int rows = layout.rows_per_block();
  while (rows > 1) {
    const int half = (rows + 1) / 2;
    __syncthreads();
    if (layout.row() < rows - half) {
      sums[threadIdx.x].add(sums[threadIdx.x + half * layout.width()]);
    }
    rows = half;
  }
}

/// partials[slab·cols + c] = the Sum of value(i, c) over the slab's rows. It calls value.load for a
/// batch of rows and then value.store, so that the loads of a batch overlap.
template <class Sum, class Value>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    column_sums_kernel(DeviceSlabs slabs, int cols, RowLayout layout, Value value, Sum* partials) {
  __shared__ Sum sums[kThreads];
  const int c = static_cast<int>(blockIdx.y) * layout.width() + layout.column();
  const Index first = Index{blockIdx.x} * slabs.height;
  const Index end = min(first + slabs.height, slabs.rows);
  const int step = layout.rows_per_block();
  Sum sum{};
  if (c < cols && layout.has_row()) {
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

/// Bytes moved: the data that `value` reads and writes, once each.
template <class Sum, class Value>
void launch_column_sums(CudaContext& context, Index rows, Index cols, const Value& value,
                        SmallView<double, DeviceSpace> results) {
  if (cols == 0) return;
  const RowLayout layout(cols);
  const DeviceSlabs slabs =
      device_slabs(rows, kSlabsPerMultiprocessor * context.device().multiprocessors, kMinSlabRows);
  const Index slab_count = slabs.count();
  auto* partials = static_cast<Sum*>(
      context.scratch(sizeof(Sum) * static_cast<std::size_t>((slab_count + 1) * cols)));
  const dim3 grid(static_cast<unsigned>(slab_count),
                  static_cast<unsigned>(ceil_div<Index>(cols, layout.width())));
  column_sums_kernel<Sum><<<grid, kThreads, 0, context.stream()>>>(slabs, static_cast<int>(cols),
                                                                   layout, value, partials);
  check_launch();
  const auto launch_results = [&](Index count, const Sum* sums, Sum* totals, double* numbers) {
    results_kernel<Sum><<<static_cast<unsigned>(cols), kThreads, 0, context.stream()>>>(
        static_cast<int>(count), static_cast<int>(cols), sums, totals, numbers);
    check_launch();
  };
  if (context.processes() == nullptr) {
    return launch_results(slab_count, partials, nullptr, results.data);
  }
  // The sums of all processes are added before a result, such as a root, is taken.
  const Index numbers = static_cast<Index>(sizeof(Sum) / sizeof(double)) * cols;
  Sum* const totals = partials + slab_count * cols;
  launch_results(slab_count, partials, totals, nullptr);
  sum_over_processes(context, {{reinterpret_cast<double*>(totals), numbers, 1, numbers}});
  launch_results(1, totals, nullptr, results.data);
}

template <class T>
struct Entry {
  const T* data;
  Index ld;
  __device__ double load(Index i, int c) const { return static_cast<double>(data[i * ld + c]); }
  __device__ double store(Index, int, double x) const { return x; }
};

template <class T>
struct Product {
  Entry<T> x;
  Entry<T> y;
  __device__ double load(Index i, int c) const { return x.load(i, c) * y.load(i, c); }
  __device__ double store(Index, int, double product) const { return product; }
};

/// The weight of the row, in column 0 of `weights`, times the square of an entry.
template <class T>
struct WeightedSquare {
  Entry<T> weights;
  Entry<T> x;
  __device__ double load(Index i, int c) const {
    const double entry = x.load(i, c);
    return weights.load(i, 0) * entry * entry;
  }
  __device__ double store(Index, int, double product) const { return product; }
};

/// Stores a residual's entry and returns the stored value.
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

template <RealScalar T>
void column_norms(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                  SmallView<double, DeviceSpace> norms) {
  require_one_per_column("column_norms", norms, X.cols());
  launch_column_sums<SquareSum>(context, X.rows(), X.cols(), Entry<T>{X.data(), X.ld()}, norms);
  context.profile().count(bytes(X), 2 * entries(X));
}

template <RealScalar T>
void column_dots(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 ConstBlockView<T, DeviceSpace> Y, SmallView<double, DeviceSpace> dots) {
  require_same_shape("column_dots", X, Y);
  require_one_per_column("column_dots", dots, X.cols());
  launch_column_sums<ProductSum>(context, X.rows(), X.cols(),
                                 Product<T>{{X.data(), X.ld()}, {Y.data(), Y.ld()}}, dots);
  context.profile().count(2 * bytes(X), 2 * entries(X));
}

template <RealScalar T>
void weighted_squares(CudaContext& context, ConstBlockView<T, DeviceSpace> weights,
                      ConstBlockView<T, DeviceSpace> X, SmallView<double, DeviceSpace> sums) {
  require_same_shape("weighted_squares", weights,
                     ConstBlockView<T, DeviceSpace>(X.data(), X.rows(), 1, X.ld()));
  require_one_per_column("weighted_squares", sums, X.cols());
  launch_column_sums<ProductSum>(
      context, X.rows(), X.cols(),
      WeightedSquare<T>{{weights.data(), weights.ld()}, {X.data(), X.ld()}}, sums);
  context.profile().count(bytes(weights) + bytes(X), 3 * entries(X));
}

template <RealScalar T>
void residual(CudaContext& context, ConstBlockView<T, DeviceSpace> AX,
              ConstBlockView<T, DeviceSpace> BX, ConstSmallView<double, DeviceSpace> theta,
              BlockView<T, DeviceSpace> R, SmallView<double, DeviceSpace> norms) {
  require_same_shape("residual", AX, BX);
  require_same_shape("residual", AX, R);
  require_one_per_column("residual", theta, AX.cols());
  require_one_per_column("residual", norms, AX.cols());
  launch_column_sums<SquareSum>(
      context, AX.rows(), AX.cols(),
      ResidualEntry<T>{AX.data(), AX.ld(), BX.data(), BX.ld(), theta.data, R.data(), R.ld()},
      norms);
  context.profile().count(3 * bytes(AX), 4 * entries(AX));
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template void column_norms(CudaContext&, ConstBlockView<T, DeviceSpace>,                        \
                             SmallView<double, DeviceSpace>);                                     \
  template void column_dots(CudaContext&, ConstBlockView<T, DeviceSpace>,                         \
                            ConstBlockView<T, DeviceSpace>, SmallView<double, DeviceSpace>);      \
  template void weighted_squares(CudaContext&, ConstBlockView<T, DeviceSpace>,                    \
                                 ConstBlockView<T, DeviceSpace>, SmallView<double, DeviceSpace>); \
  template void residual(CudaContext&, ConstBlockView<T, DeviceSpace>,                            \
                         ConstBlockView<T, DeviceSpace>, ConstSmallView<double, DeviceSpace>,     \
                         BlockView<T, DeviceSpace>, SmallView<double, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
