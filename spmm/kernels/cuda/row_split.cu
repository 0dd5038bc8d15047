#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/row_split.hpp>

namespace heddle::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;

/// Blocks that a multiprocessor must hold where all loads of a round are to be in flight; see
/// lanes.cuh.
constexpr int kDeepBlocks = 5;

/// Threads that an H200 holds, twice: rows for more than those hide latency by their number.
constexpr Index kManyThreads = 2 * 132 * 2048;

/// How a block's threads share its rows: `lanes` threads a row, kLanes where that is not 0 (a power
/// of two: no division).
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
  Lane<typename Product::Value, kWidth> sum;
  accumulate<1, kUnroll>(p.A.columns + begin, values_from(p, begin), 0, length, p.B + column,
                         b_pitch(p), sum);
  stream(p.alpha, sum, p.beta, p.C + row * p.ldc + column);
}

/// Lanes for a slab: as few slabs as `most_lanes` allows, of equal widths.
int lanes_of_slab(Index lanes_of_row, Index most_lanes) {
  const Index slabs = (lanes_of_row + most_lanes - 1) / most_lanes;
  return static_cast<int>((lanes_of_row + slabs - 1) / slabs);
}

template <int kWidth, int kLanes, class Product>
void launch_rows(const Product& product, int lanes, cudaStream_t stream) {
  const RowLanes<kLanes> layout(lanes);
  const dim3 grid(blocks_for(product.A.rows, layout.rows()),
                  blocks_for(product.N, layout.count() * kWidth));
  const auto run = [&](auto kernel) {
    kernel<<<grid, kThreads, 0, stream>>>(product, layout);
    check_launch();
  };
  // Few rows: all loads of a round in flight. Many: the more rows a multiprocessor holds, the more
  // of B they share in its L1 (one H200, meshes: 10 % from 5 to 8 blocks).
  if (product.A.rows * lanes < kManyThreads) {
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
  static constexpr int kSlab = kLanes * kWidth;
  static_assert(kRowThreads <= kWarpSize, "a row's lanes add up by shuffles");
};

template <class Config, class Product>
__global__ __launch_bounds__(kThreads, kDeepBlocks) void groups_kernel(Product p) {
  const Index row =
      static_cast<Index>(blockIdx.x) * Config::kRows + threadIdx.x / Config::kRowThreads;
  if (row >= p.A.rows) return;
  const int lane = threadIdx.x % Config::kLanes;
  const int group = threadIdx.x % Config::kRowThreads / Config::kLanes;
  const Index column = static_cast<Index>(blockIdx.y) * Config::kSlab + lane * Config::kWidth;

  Lane<typename Product::Value, Config::kWidth> sum;
  if (column < p.N) {
    const Index begin = p.A.row_offsets[row];
    const int length = static_cast<int>(p.A.row_offsets[row + 1] - begin);
    accumulate<Config::kGroups, kUnroll>(p.A.columns + begin, values_from(p, begin), group, length,
                                         p.B + column, b_pitch(p), sum);
  }
#pragma unroll
  for (int step = Config::kGroups / 2; step > 0; step /= 2) {
    add_from_lane(step * Config::kLanes, Config::kRowThreads, sum);
  }
  if (column < p.N && group == 0) stream(p.alpha, sum, p.beta, p.C + row * p.ldc + column);
}

template <class Config, class Product>
void launch_groups(const Product& product, cudaStream_t stream) {
  const dim3 grid(blocks_for(product.A.rows, Config::kRows), blocks_for(product.N, Config::kSlab));
  groups_kernel<Config><<<grid, kThreads, 0, stream>>>(product);
  check_launch();
}

}  // namespace

template <class Product>
void launch_row_split(const Product& product, int groups, Index most_lanes, cudaStream_t stream) {
  dispatch_lanes(product, most_lanes, [&]<int kWidth, int kLanes>() {
    dispatch_at_least<1, 2, 4, 8, 16, 32>(groups, [&]<int kGroupsWanted>() {
      constexpr int kGroups = std::min(kGroupsWanted, kWarpSize / kLanes);
      if constexpr (kGroups > 1) {
        launch_groups<GroupsConfig<kWidth, kLanes, kGroups>>(product, stream);
      } else {
        const int lanes = lanes_of_slab((product.N + kWidth - 1) / kWidth, most_lanes);
        lanes == kLanes ? launch_rows<kWidth, kLanes>(product, lanes, stream)
                        : launch_rows<kWidth, 0>(product, lanes, stream);
      }
    });
  });
}

template void launch_row_split(const SpmmProduct<float>&, int, Index, cudaStream_t);
template void launch_row_split(const SpmmProduct<double>&, int, Index, cudaStream_t);
template void launch_row_split(const GatheredProduct<float>&, int, Index, cudaStream_t);
template void launch_row_split(const GatheredProduct<double>&, int, Index, cudaStream_t);

}  // namespace heddle::cuda
