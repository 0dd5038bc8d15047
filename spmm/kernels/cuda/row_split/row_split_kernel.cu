#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/row_split/launch_row_split.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_split_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;

/// Blocks that a multiprocessor must hold where all loads of a round are to be in flight; see
/// lanes.cuh.
constexpr int kDeepBlocks = 5;

/// How a block's threads share its rows: `lanes` threads per row, kLanes where that is not 0 (a
/// power of two: no division).
template <int kLanes>
struct RowLanes {
  int lanes;
  unsigned reciprocal;  // ⌈2¹⁶/lanes⌉

  explicit RowLanes(int lanes_of)
      : lanes(lanes_of), reciprocal(static_cast<unsigned>(((1 << 16) + lanes - 1) / lanes)) {}

  __host__ __device__ int count() const { return kLanes > 0 ? kLanes : lanes; }
  __host__ __device__ int rows() const { return kThreads / count(); }
  __device__ int row() const {
    const unsigned thread = threadIdx.x;
    return static_cast<int>(kLanes > 0 ? thread / kLanes : thread * reciprocal >> 16);
  }
};

template <int kWidth, int kBlocks, int kLanes, class Product>
__global__ __launch_bounds__(kThreads, kBlocks) void row_kernel(Product p,
                                                                RowLanes<kLanes> layout) {
  const int local_row = layout.row();
  const int lane = static_cast<int>(threadIdx.x) - local_row * layout.count();
  const Index row = static_cast<Index>(blockIdx.x) * layout.rows() + local_row;
  const Index column = (static_cast<Index>(blockIdx.y) * layout.count() + lane) * kWidth;
  if (local_row >= layout.rows() || row >= p.A.rows || column >= p.N) return;
  const Index begin = p.A.row_offsets[row];
  const int length = static_cast<int>(p.A.row_offsets[row + 1] - begin);
  wait_for_previous_kernel();
  Lane<typename Product::Value, kWidth> sum;
  accumulate<1, kUnroll>(p.A.columns + begin, values_from(p, begin), 0, length, p.B + column,
                         b_pitch(p), sum);
  finish<Storing::streaming>(p, row, column, sum);
}

/// Lanes for a stripe: as few stripes as `most_lanes` allows, of equal widths.
int lanes_of_stripe(Index lanes_of_row, Index most_lanes) {
  const Index stripes = (lanes_of_row + most_lanes - 1) / most_lanes;
  return static_cast<int>((lanes_of_row + stripes - 1) / stripes);
}

template <int kWidth, int kLanes, class Product>
void launch_rows(CudaContext& context, const Product& product, int lanes) {
  const RowLanes<kLanes> layout(lanes);
  const dim3 grid(blocks_for(product.A.rows, layout.rows()),
                  blocks_for(product.N, layout.count() * kWidth));
  const auto run = [&](auto kernel) {
    launch_dependent(kernel, {grid, kThreads}, context.stream(), product, layout);
  };
  // Few rows: all loads of a round in flight. Rows for more than twice the threads that the device
  // holds hide latency by their number: the more rows a multiprocessor holds, the more of B they
  // share in its L1 (one H200, meshes: 10 % from 5 to 8 blocks).
  if (product.A.rows * lanes < 2 * context.device().resident_threads()) {
    run(row_kernel<kWidth, kDeepBlocks, kLanes, Product>);
  } else if (kLanes == 0 || kLanes >= 8) {
    run(row_kernel<kWidth, 8, kLanes, Product>);
  } else {
    run(row_kernel<kWidth, 6, kLanes, Product>);
  }
}

template <int kWidthOf, int kLanesOf, int kGroupsOf>
struct GroupsConfig {
  static constexpr int kWidth = kWidthOf;    // values a lane loads at once
  static constexpr int kLanes = kLanesOf;    // lanes for the columns of a row
  static constexpr int kGroups = kGroupsOf;  // such lane groups for the nonzeros of a row
  static constexpr int kRowThreads = kLanes * kGroups;
  static constexpr int kRows = kThreads / kRowThreads;
  static constexpr int kStripe = kLanes * kWidth;
  static_assert(kRowThreads <= kWarpSize, "a row's lanes add up by shuffles");
  using OfWarp = GroupsConfig<kWidth, kLanes, kWarpSize / kLanes>;  // all lanes of a warp
};

/// The sum of `entries` entries of A from `begin` on, in the group 0 of a row's threads.
template <class Config, class Product, class Sum = Lane<typename Product::Value, Config::kWidth>>
__device__ Sum sum_of_entries(const Product& p, Index begin, int entries, Index column) {
  const int group = threadIdx.x % Config::kRowThreads / Config::kLanes;
  Sum sum;
  if (column < p.N) {
    accumulate<Config::kGroups, kUnroll>(p.A.columns + begin, values_from(p, begin), group, entries,
                                         p.B + column, b_pitch(p), sum);
  }
#pragma unroll
  for (int step = Config::kGroups / 2; step > 0; step /= 2) {
    add_from_lane(step * Config::kLanes, Config::kRowThreads, sum);
  }
  return sum;
}

/// The first `segment_blocks` thread blocks add segments of long rows, a warp per segment, because
/// they take longest.
template <class Config, class Product>
__global__ __launch_bounds__(kThreads, kDeepBlocks) void groups_kernel(
    Product p, LongRowsView<typename Product::Value> long_rows, unsigned segment_blocks) {
  const int lane = threadIdx.x % Config::kLanes;
  const Index column = static_cast<Index>(blockIdx.y) * Config::kStripe + lane * Config::kWidth;
  if (blockIdx.x < segment_blocks) {
    using OfWarp = typename Config::OfWarp;
    const Index number = static_cast<Index>(blockIdx.x) * OfWarp::kRows + threadIdx.x / kWarpSize;
    if (number >= long_rows.count) return;
    const RowSegment segment = long_rows.segments[number];
    wait_for_previous_kernel();
    const auto sum = sum_of_entries<OfWarp>(p, segment.begin, segment.entries, column);
    if (column >= p.N || threadIdx.x % kWarpSize >= Config::kLanes) return;
    if (segment.target >= 0) return finish<Storing::streaming>(p, segment.target, column, sum);
    const RowParts<typename Product::Value>& parts = long_rows.parts;
    return store(sum, parts.sums + (-1 - segment.target) * parts.pitch + column);
  }
  const Index row = static_cast<Index>(blockIdx.x - segment_blocks) * Config::kRows +
                    threadIdx.x / Config::kRowThreads;
  if (row >= p.A.rows) return;
  const Index begin = p.A.row_offsets[row];
  const auto entries = static_cast<int>(p.A.row_offsets[row + 1] - begin);
  if (entries > long_rows.limit) return;
  wait_for_previous_kernel();
  const auto sum = sum_of_entries<Config>(p, begin, entries, column);
  if (column < p.N && threadIdx.x % Config::kRowThreads < Config::kLanes) {
    finish<Storing::streaming>(p, row, column, sum);
  }
}

template <class Config, class Product>
void launch_groups(CudaContext& context, const Product& product,
                   const LongRowsView<typename Product::Value>& long_rows) {
  const unsigned segment_blocks = blocks_for(long_rows.count, Config::OfWarp::kRows);
  const dim3 grid(segment_blocks + blocks_for(product.A.rows, Config::kRows),
                  blocks_for(product.N, Config::kStripe));
  launch_dependent(groups_kernel<Config, Product>, {grid, kThreads}, context.stream(), product,
                   long_rows, segment_blocks);
}

template <class T, class V>
class RowSplitPlan : public KernelPlan<T, DeviceSpace> {
 public:
  RowSplitPlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : values_(context, matrix), most_lanes_(row_lanes(matrix.features)) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_row_split(context, values_.in(product), 1, most_lanes_);
  }

 private:
  StoredValues<T, V> values_;
  int most_lanes_;
};

}  // namespace

KernelMakers<DeviceSpace> RowSplitKernel::makers() {
  return makers_by_values<RowSplitKernel, RowSplitPlan>();
}

template <class Product>
void launch_row_split(CudaContext& context, const Product& product, int groups, Index most_lanes,
                      const LongRowsView<typename Product::Value>& long_rows) {
  if (long_rows.count > 0) {
    const Index width = is_vectorisable(product) ? kVectorWidth<typename Product::Value> : 1;
    most_lanes = lanes_of_group((product.N + width - 1) / width);
  }
  dispatch_lanes(product, most_lanes, [&]<int kWidth, int kLanes>() {
    dispatch_at_least<1, 2, 4, 8, 16, 32>(groups, [&]<int kGroupsWanted>() {
      constexpr int kGroups = std::min(kGroupsWanted, kWarpSize / kLanes);
      if (kGroups > 1 || long_rows.count > 0) {
        launch_groups<GroupsConfig<kWidth, kLanes, kGroups>>(context, product, long_rows);
      } else {
        const int lanes = lanes_of_stripe((product.N + kWidth - 1) / kWidth, most_lanes);
        lanes == kLanes ? launch_rows<kWidth, kLanes>(context, product, lanes)
                        : launch_rows<kWidth, 0>(context, product, lanes);
      }
    });
  });
}

#define HEDDLE_INSTANTIATE(T)                                                         \
  template void launch_row_split(CudaContext&, const SpmmProduct<T>&, int, Index,     \
                                 const LongRowsView<T>&);                             \
  template void launch_row_split(CudaContext&, const GatheredProduct<T>&, int, Index, \
                                 const LongRowsView<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
template void launch_row_split(CudaContext&, const NarrowProduct<SpmmProduct<double>>&, int, Index,
                               const LongRowsView<double>&);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
