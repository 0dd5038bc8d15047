#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/carries.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/nonzero_parallel/nonzero_parallel_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

template <int kWidthOf, int kLoadsOf>
struct NonzeroParallelConfig {
  static constexpr int kWidth = kWidthOf;  // columns of B in one load
  static constexpr int kLoads = kLoadsOf;  // such loads per lane
  static constexpr int kStripe = kWidth * kLoads;
  static constexpr int kThreads = 256;
  static constexpr int kBlocks = 5;  // least number per multiprocessor: see lanes.cuh
  static constexpr int kWarps = kThreads / kWarpSize;
};

/// Nonzeros or rows that a warp walks.
constexpr Index kWarpStep = 256;

Index stretches_per_warp(const MergePath& path) {
  return std::max<Index>(1, kWarpStep / path.step());
}

/// The row of nonzero `first + lane`, for the lanes below `count`; `row` is not beyond the row of
/// nonzero `first`. The warp looks at 32 row ends at a time.
__device__ Index find_row(const std::int64_t* row_offsets, Index rows, Index row, Index first,
                          int lane, int count) {
  constexpr Index kFar = 2 * kWarpSize;
  Index found = -1;
  for (Index window = row;; window += kWarpSize) {
    const int row_end =
        static_cast<int>(min(row_offsets[min(window + 1 + lane, rows)] - first, kFar));
    int before = 0;  // row ends of the window that lie not behind this lane's nonzero
#pragma unroll
    for (int step = kWarpSize / 2; step > 0; step /= 2) {
      if (__shfl_sync(kFullWarp, row_end, before + step - 1) <= lane) before += step;
    }
    if (__shfl_sync(kFullWarp, row_end, before) <= lane) ++before;
    if (found < 0 && before < kWarpSize) found = window + before;
    if (!__any_sync(kFullWarp, found < 0 && lane < count)) return found;
  }
}

template <class Config, class T>
struct WarpSum {
  Lane<T, Config::kWidth> parts[Config::kLoads];

  __device__ void add(const WarpSum& other) {
#pragma unroll
    for (int i = 0; i < Config::kLoads; ++i) cuda::add(other.parts[i], parts[i]);
  }

  /// The sums of `source` lane: all lanes take part.
  __device__ WarpSum from_lane(int source) const {
    WarpSum result;
#pragma unroll
    for (int i = 0; i < Config::kLoads; ++i) {
#pragma unroll
      for (int j = 0; j < Config::kWidth; ++j) {
        result.parts[i][j] =
            by_parts(parts[i][j], [&](auto part) { return __shfl_sync(kFullWarp, part, source); });
      }
    }
    return result;
  }

  /// Inclusive scan over the lanes from `start`, the first of this lane's row, on.
  __device__ void scan(int lane, int start) {
#pragma unroll
    for (int step = 1; step < kWarpSize; step *= 2) {
      const WarpSum before = from_lane(max(lane - step, 0));
      if (lane - step >= start) add(before);
    }
  }

  /// Ends the entries of C from (row, column) on.
  template <class Product>
  __device__ void store_row(const Product& p, Index row, Index column) const {
#pragma unroll
    for (int i = 0; i < Config::kLoads; ++i) {
      const Index j = column + i * Config::kWidth;
      if (j < p.N) finish(p, row, j, parts[i]);
    }
  }

  /// carries(warp, column …) = sums, with carries in rows of p.N entries.
  __device__ void store_carry(const SpmmProduct<T>& p, T* carries, Index warp, Index column) const {
#pragma unroll
    for (int i = 0; i < Config::kLoads; ++i) {
      const Index j = column + i * Config::kWidth;
      if (j < p.N) store(parts[i], carries + warp * p.N + j);
    }
  }
};

template <class Config, class Product>
__global__ __launch_bounds__(Config::kThreads, Config::kBlocks) void nonzero_parallel_kernel(
    Product p, const PathPoint* points, Index stretches_total, Index stretches,
    typename Product::Value* carries) {
  using T = typename Product::Value;
  using Sum = WarpSum<Config, T>;
  const Index warp = static_cast<Index>(blockIdx.x) * Config::kWarps + threadIdx.x / kWarpSize;
  if (warp * stretches >= stretches_total) return;
  const int lane = threadIdx.x % kWarpSize;
  const Index column = static_cast<Index>(blockIdx.y) * Config::kStripe;
  const PathPoint begin = points[warp * stretches];
  const PathPoint end = points[min((warp + 1) * stretches, stretches_total)];
  wait_for_previous_kernel();
  allow_next_kernel();
  Sum open;  // of `row`, in every lane
  Index row = begin.row;
  for (Index first = begin.nonzero; first < end.nonzero; first += kWarpSize) {
    const int count = static_cast<int>(min(static_cast<Index>(kWarpSize), end.nonzero - first));
    Sum sum;
    if (lane < count) {
      const T* b = p.B + __ldg(p.A.columns + first + lane) * p.ldb + column;
      const T a = load_value(p.A.values + first, lane);
#pragma unroll
      for (int i = 0; i < Config::kLoads; ++i) {
        if (column + i * Config::kWidth < p.N) {
          multiply_add(a, load<Config::kWidth>(b + i * Config::kWidth), sum.parts[i]);
        }
      }
    }
    const Index own_row = find_row(p.A.row_offsets, p.A.rows, row, first, lane, count);
    const Index first_row = __shfl_sync(kFullWarp, own_row, 0);
    if (first_row == row) {
      if (lane == 0) sum.add(open);
    } else {
      if (lane == 0) open.store_row(p, row, column);
      for (Index empty = row + 1 + lane; empty < first_row; empty += kWarpSize) {
        Sum{}.store_row(p, empty, column);
      }
    }
    const Index row_before = __shfl_up_sync(kFullWarp, own_row, 1);
    const Index row_after = __shfl_down_sync(kFullWarp, own_row, 1);
    const unsigned starts = __ballot_sync(kFullWarp, lane == 0 || row_before != own_row);
    sum.scan(lane, kWarpSize - 1 - __clz(starts & (kFullWarp >> (kWarpSize - 1 - lane))));
    if (lane < count - 1 && row_after != own_row) {
      sum.store_row(p, own_row, column);
      for (Index empty = own_row + 1; empty < row_after; ++empty) {
        Sum{}.store_row(p, empty, column);
      }
    }
    open = sum.from_lane(count - 1);
    row = __shfl_sync(kFullWarp, own_row, count - 1);
  }
  if (row < end.row) {
    if (lane == 0) open.store_row(p, row, column);
    for (Index empty = row + 1 + lane; empty < end.row; empty += kWarpSize) {
      Sum{}.store_row(p, empty, column);
    }
    open = Sum{};
  }
  if (lane == 0) open.store_carry(p, carries, warp, column);
}

template <class Config, class T>
void launch(CudaContext& context, const SpmmProduct<T>& product, const MergePath& path,
            T* carries) {
  const Index stretches = stretches_per_warp(path);
  const dim3 grid(blocks_for(path.stretches(), stretches * Config::kWarps),
                  blocks_for(product.N, Config::kStripe));
  dispatch_terms(product, [&](const auto& typed) {
    launch_dependent(nonzero_parallel_kernel<Config, std::remove_cvref_t<decltype(typed)>>,
                     {grid, Config::kThreads}, context.stream(), typed, path.points(),
                     path.stretches(), stretches, carries);
  });
  launch_add_carries(context, product, path, stretches, carries);
}

template <class T>
class NonzeroParallelPlan : public KernelPlan<T, DeviceSpace> {
 public:
  NonzeroParallelPlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : path_(shared_merge_path(context, matrix, PathMeasure::nonzeros)) {}

  void prepare(CudaContext& context, Index N) override {
    grow(context, carries_, blocks_for(path_->stretches(), stretches_per_warp(*path_)) * N);
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    constexpr int kMost = 4;
    constexpr int kWidth = kVectorWidth<T>;
    if (kWidth > 1 && is_vectorisable(product)) {
      launch<NonzeroParallelConfig<kWidth, kMost / kWidth>>(context, product, *path_,
                                                            carries_.data());
    } else {
      dispatch_at_least<1, 2, kMost>(
          static_cast<int>(std::min<Index>(product.N, kMost)), [&]<int kLoads>() {
            launch<NonzeroParallelConfig<1, kLoads>>(context, product, *path_, carries_.data());
          });
    }
  }

 private:
  std::shared_ptr<const MergePath> path_;
  Buffer<T, DeviceSpace> carries_;
};

}  // namespace

KernelMakers<DeviceSpace> NonzeroParallelKernel::makers() {
  return makers_of<NonzeroParallelKernel, NonzeroParallelPlan, DeviceSpace>();
}

}  // namespace heddle::detail::cuda
