#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/carries.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_merge/narrow_merge_kernel.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>

namespace heddle::detail::cuda {
namespace {

/// Where a row of a tile ends, among the tile's nonzeros. Behind the last row stands kNoEnd.
using RowEnd = std::uint16_t;
constexpr int kNoEnd = 0xffff;

template <int kWidthOf, int kLoadsOf, int kEachOf>
struct NarrowMergeConfig {
  static constexpr int kWidth = kWidthOf;  // columns of B in one load
  static constexpr int kLoads = kLoadsOf;  // such loads per nonzero
  static constexpr int kStripe = kWidth * kLoads;
  static constexpr int kThreads = 256;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kEach = kEachOf;                 // nonzeros of a thread
  static constexpr int kBlocks = kStripe == 1 ? 6 : 4;  // least number per multiprocessor
  static constexpr int kTile = kEach * kThreads;        // rows and nonzeros of a block
  static constexpr int kProducts = kTile + kThreads;
  static_assert(kTile < kNoEnd);

  /// The place of a product in shared memory. Threads read neighbouring ones from different banks.
  __device__ static int place(int nonzero) { return nonzero + nonzero / kEach; }
};

/// Sums of one row in the columns of a stripe.
template <class Config, class T>
struct StripeSum {
  Lane<T, Config::kWidth> parts[Config::kLoads];

  __device__ void add(const StripeSum& other) {
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) cuda::add(other.parts[l], parts[l]);
  }
  __device__ void add_product(T a, const StripeSum& b) {
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) multiply_add(a, b.parts[l], parts[l]);
  }
  /// The sum of the lane `distance` lanes before. All lanes of the warp take part.
  __device__ StripeSum from_before(int distance) const {
    StripeSum result;
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
#pragma unroll
      for (int i = 0; i < Config::kWidth; ++i) {
        result.parts[l][i] = __shfl_up_sync(kFullWarp, parts[l][i], distance);
      }
    }
    return result;
  }
};

/// The sum of the row that is open at a place, over the threads up to there.
template <class Sum>
struct OpenSum {
  Sum sum;
  bool begins;  ///< whether the row begins in one of these threads

  /// Puts `before`, of the threads before, in front.
  __device__ void append_to(const OpenSum& before) {
    if (!begins) {
      Sum all = before.sum;
      all.add(sum);
      sum = all;
    }
    begins = begins || before.begins;
  }
};

/// The open sum of all threads before this one, and of all threads of the block in `total`. Pieces
/// are added in the order of the threads' binary tree, which does not vary.
template <class Config, class Sum>
__device__ OpenSum<Sum> sum_of_threads_before(OpenSum<Sum> own, OpenSum<Sum>& total) {
  __shared__ OpenSum<Sum> warps[Config::kWarps];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
#pragma unroll
  for (int step = 1; step < kWarpSize; step *= 2) {
    const OpenSum<Sum> before = {own.sum.from_before(step),
                                 __shfl_up_sync(kFullWarp, own.begins ? 1 : 0, step) != 0};
    if (lane >= step) own.append_to(before);
  }
  if (lane == kWarpSize - 1) warps[warp] = own;
  OpenSum<Sum> result = {own.sum.from_before(1),
                         __shfl_up_sync(kFullWarp, own.begins ? 1 : 0, 1) != 0};
  if (lane == 0) result = {};
  __syncthreads();
  OpenSum<Sum> before{};
  for (int w = 0; w < warp; ++w) {
    OpenSum<Sum> next = warps[w];
    next.append_to(before);
    before = next;
  }
  result.append_to(before);
  total = own;
  total.append_to(before);  // of the block in its last thread
  return result;
}

/// The first of the ascending ends[first] … ends[last] that is above `slot`. The last one is.
__device__ int row_behind(const RowEnd* ends, int first, int last, int slot) {
  while (first < last) {
    const int middle = (first + last) / 2;
    if (ends[middle] <= slot) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

/// The same in steps that double, because rows without nonzeros usually come in short runs.
__device__ int row_soon_behind(const RowEnd* ends, int first, int last, int slot) {
  int step = 1;
  while (first + step < last && ends[first + step] <= slot) {
    first += step;
    step *= 2;
  }
  return row_behind(ends, first, min(first + step, last), slot);
}

/// A thread's nonzeros of a tile: every kThreads-th, so that neighbouring threads load neighbours.
template <class Config, class Product>
struct Nonzeros {
  using T = typename Product::Value;
  using Sum = StripeSum<Config, T>;
  static constexpr int kEach = Config::kEach;

  std::int32_t columns[kEach];
  StoredValue<Product> values[kEach];
  int count;  ///< of the tile

  __device__ static int place(int k) {
    return k * Config::kThreads + static_cast<int>(threadIdx.x);
  }

  __device__ Nonzeros(const Product& p, Index first, int count_of) : count(count_of) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (place(k) >= count) continue;
      columns[k] = __ldg(p.A.columns + first + place(k));
      values[k] = load_value(values_from(p, first), place(k));
    }
  }

  /// Stores their products with B's columns from `column` on. All loads are in flight at once.
  __device__ void store_products(const Product& p, Index column, Sum* products) const {
    Sum b[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
#pragma unroll
      for (int l = 0; l < Config::kLoads; ++l) {
        const Index j = column + l * Config::kWidth;
        if (place(k) < count && j < p.N) {
          b[k].parts[l] = load_row<Config::kWidth>(p.B + j, columns[k], b_pitch(p));
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      Sum product;
      if (place(k) < count) product.add_product(static_cast<T>(values[k]), b[k]);
      products[Config::place(place(k))] = product;
    }
  }
};

/// The sums of a thread's neighbouring products. It finishes the rows that end behind one of them.
template <class Sum>
struct ThreadSums {
  int first_row = -1;  ///< that the thread finishes, −1 if it finishes none
  Sum first;           ///< the thread's part of that row
  Sum open;            ///< of the row behind the last that it finishes

  /// Adds the thread's `products`, the first of which is number `begin` of the tile and belongs to
  /// row `row`. Stores further rows that the thread finishes in `row_sums`. Row r of the tile ends
  /// behind product ends[r] − 1.
  template <class Config>
  __device__ void add(const Sum (&products)[Config::kEach], int begin, int row, const RowEnd* ends,
                      int rows, Sum* row_sums) {
    int row_end = ends[row];
#pragma unroll
    for (int k = 0; k < Config::kEach; ++k) {
      open.add(products[k]);
      const int next = begin + k + 1;
      if (row_end > next) continue;
      if (first_row < 0) {
        first_row = row;
        first = open;
      } else {
        row_sums[row] = open;
      }
      open = Sum{};
      ++row;
      row_end = ends[row];
      if (row_end > next) continue;  // else rows without nonzeros
      row = row_soon_behind(ends, row, rows, next);
      row_end = ends[row];
    }
  }
};

/// Ends the rows of a tile from `first_row` on. Rows without nonzeros in the tile have no sum.
template <class Config, class Product, class Sum>
__device__ void finish_rows(const Product& p, Index first_row, Index column, int rows,
                            const RowEnd* ends, const Sum* row_sums) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * Config::kLoads; i += Config::kThreads) {
    const int r = i / Config::kLoads;
    const int l = i % Config::kLoads;
    const Index j = column + l * Config::kWidth;
    if (j >= p.N) continue;
    const bool any = ends[r] > (r > 0 ? ends[r - 1] : 0);
    finish<Storing::streaming>(p, first_row + r, j, (any ? row_sums[r] : Sum{}).parts[l]);
  }
}

template <class Config, class Product>
__global__ __launch_bounds__(Config::kThreads, Config::kBlocks) void narrow_merge_kernel(
    Product p, const PathPoint* points, Index stretches_total, Index stretches,
    typename Product::Value* carries) {
  using Sum = StripeSum<Config, typename Product::Value>;
  extern __shared__ __align__(kVectorBytes) char memory[];
  const PathPoint begin = points[blockIdx.x * stretches];
  const PathPoint end = points[min((blockIdx.x + 1) * stretches, stretches_total)];
  const int rows = static_cast<int>(end.row - begin.row);
  const Index column = static_cast<Index>(blockIdx.y) * Config::kStripe;
  auto* const products = reinterpret_cast<Sum*>(memory);
  auto* const row_sums = products;  // once all products are in registers
  auto* const ends = reinterpret_cast<RowEnd*>(products + Config::kProducts);

  const Nonzeros<Config, Product> nonzeros(p, begin.nonzero,
                                           static_cast<int>(end.nonzero - begin.nonzero));
#pragma unroll 4
  for (int r = static_cast<int>(threadIdx.x); r < rows; r += Config::kThreads) {
    ends[r] = static_cast<RowEnd>(p.A.row_offsets[begin.row + r + 1] - begin.nonzero);
  }
  if (threadIdx.x == 0) ends[rows] = kNoEnd;
  wait_for_previous_kernel();
  allow_next_kernel();
  nonzeros.store_products(p, column, products);
  __syncthreads();
  Sum own[Config::kEach];
  const int first = static_cast<int>(threadIdx.x) * Config::kEach;
#pragma unroll
  for (int k = 0; k < Config::kEach; ++k) own[k] = products[Config::place(first + k)];
  const int first_row = row_behind(ends, 0, rows, first);
  __syncthreads();
  ThreadSums<Sum> sums;
  sums.template add<Config>(own, first, first_row, ends, rows, row_sums);
  OpenSum<Sum> total;
  const OpenSum<Sum> before =
      sum_of_threads_before<Config>(OpenSum<Sum>{sums.open, sums.first_row >= 0}, total);
  if (sums.first_row >= 0) {
    Sum sum = before.sum;
    sum.add(sums.first);
    row_sums[sums.first_row] = sum;
  }
  __syncthreads();
  finish_rows<Config>(p, begin.row, column, rows, ends, row_sums);
  if (threadIdx.x < Config::kThreads - 1) return;
#pragma unroll
  for (int l = 0; l < Config::kLoads; ++l) {
    const Index j = column + l * Config::kWidth;
    if (j < p.N) store(total.sum.parts[l], carries + blockIdx.x * p.N + j);
  }
}

/// The nonzeros of a thread: few where large tiles would not occupy the device, most for one column
/// of long rows (one H200, R-MAT graphs with 10 to 28 nonzeros per row: kMany is 1.1 times as
/// fast).
constexpr int kFew = 2;
constexpr int kMany = 4;
constexpr int kVeryMany = 8;
constexpr double kLongRows = 64;

/// *most = the largest number of rows that `stretches` stretches end.
__global__ void most_rows_kernel(const PathPoint* points, Index stretches_total, Index stretches,
                                 Index teams, int* most) {
  const Index team = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (team >= teams) return;
  const Index last = min((team + 1) * stretches, stretches_total);
  atomicMax(most, static_cast<int>(points[last].row - points[team * stretches].row));
}

template <class T, class V>
class NarrowMergePlan : public KernelPlan<T, DeviceSpace> {
  using Largest = NarrowMergeConfig<1, 1, kVeryMany>;
  using Smallest = NarrowMergeConfig<1, 1, kFew>;

 public:
  NarrowMergePlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : values_(context, matrix),
        row_mean_(matrix.features.row_mean),
        path_(shared_merge_path(context, matrix, PathMeasure::rows_and_nonzeros)) {
    constexpr int kThreads = 256;
    const Index teams = blocks_for(path_->stretches(), stretches<Largest>());
    Buffer<int, DeviceSpace> most(context, 1);
    check(cudaMemsetAsync(most.data(), 0, sizeof(int), context.stream()));
    most_rows_kernel<<<blocks_for(teams, kThreads), kThreads, 0, context.stream()>>>(
        path_->points(), path_->stretches(), stretches<Largest>(), teams, most.data());
    check_launch();
    context.copy_to_host(&most_rows_, most.data(), sizeof most_rows_);
  }

  void prepare(CudaContext& context, Index N) override {
    grow(context, carries_, blocks_for(path_->stretches(), stretches<Smallest>()) * N);
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    constexpr int kMost = 4;
    constexpr int kWidth = kVectorWidth<T>;
    if (is_vectorisable(product)) {
      dispatch_at_least<1, kMost / kWidth>(
          static_cast<int>(std::min<Index>(product.N, kMost)) / kWidth,
          [&]<int kLoads>() { launch_stripes<kWidth, kLoads>(context, product); });
    } else {
      dispatch_at_least<1, 2, kMost>(
          static_cast<int>(std::min<Index>(product.N, kMost)),
          [&]<int kLoads>() { launch_stripes<1, kLoads>(context, product); });
    }
  }

 private:
  template <class Config>
  Index stretches() const {
    return Config::kTile / path_->step();
  }

  template <int kWidth, int kLoads>
  void launch_stripes(CudaContext& context, const SpmmProduct<T>& product) {
    constexpr bool kOne = kWidth * kLoads == 1;
    using Small = NarrowMergeConfig<kWidth, kLoads, kFew>;
    using Middle = NarrowMergeConfig<kWidth, kLoads, kMany>;
    using Large = NarrowMergeConfig<kWidth, kLoads, kOne ? kVeryMany : kMany>;
    constexpr Index kTilesPerMultiprocessor = 4;
    const Index length = path_->stretches() * path_->step();
    if (length < Large::kTile * kTilesPerMultiprocessor * context.device().multiprocessors) {
      launch<Small>(context, product);
    } else if (row_mean_ < kLongRows) {
      launch<Middle>(context, product);
    } else {
      launch<Large>(context, product);
    }
  }

  template <class Config>
  void launch(CudaContext& context, const SpmmProduct<T>& product) {
    const dim3 grid(blocks_for(path_->stretches(), stretches<Config>()),
                    blocks_for(product.N, Config::kStripe));
    const auto rows = static_cast<std::size_t>(std::min(most_rows_, Config::kTile));
    const std::size_t shared =
        Config::kProducts * sizeof(StripeSum<Config, T>) + (rows + 1) * sizeof(RowEnd);
    dispatch_terms(product, [&](const auto& typed) {
      const auto complete = values_.in(typed);
      const auto kernel = narrow_merge_kernel<Config, std::remove_const_t<decltype(complete)>>;
      // More must be asked for, which takes as long as a launch.
      constexpr std::size_t kAlwaysGranted = 46 * 1024;
      if (shared > kAlwaysGranted) {
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared)));
      }
      launch_dependent(kernel, {grid, Config::kThreads, shared}, context.stream(), complete,
                       path_->points(), path_->stretches(), stretches<Config>(), carries_.data());
    });
    launch_add_carries(context, product, *path_, stretches<Config>(), carries_.data());
  }

  StoredValues<T, V> values_;
  double row_mean_;
  std::shared_ptr<const MergePath> path_;
  int most_rows_ = 0;  ///< that a block ends
  Buffer<T, DeviceSpace> carries_;
};

}  // namespace

KernelMakers<DeviceSpace> NarrowMergeKernel::makers() {
  return makers_by_values<NarrowMergeKernel, NarrowMergePlan>();
}

}  // namespace heddle::detail::cuda
