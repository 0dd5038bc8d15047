#include <heddle/linalg/cuda/check.hpp>
#include <heddle/spmm/cuda/dispatch.hpp>
#include <heddle/spmm/cuda/lanes.cuh>
#include <heddle/spmm/cuda/row_split.hpp>

namespace heddle::cuda {
namespace {

template <class T, int kWidthOf, int kLanesOf, int kGroupsOf, bool kDeep>
struct RowSplitConfig {
  static constexpr int kWidth = kWidthOf;    // values a lane loads at once
  static constexpr int kLanes = kLanesOf;    // lanes for the columns of a row
  static constexpr int kGroups = kGroupsOf;  // such lane groups for the nonzeros of a row
  static constexpr int kThreads = 256;
  static constexpr int kUnroll = 4;
  static constexpr int kRows = kThreads / (kLanes * kGroups);
  static constexpr int kSlab = kLanes * kWidth;
  // See lanes.cuh. Few rows: all loads of a round in flight. Many: the more rows a multiprocessor
  // holds, the more of B they share in its L1 (one H200, meshes: 10 % from 5 to 8 blocks).
  static constexpr int kBlocks = kDeep ? 5 : kLanes < 8 ? 6 : 8;
  static_assert(kLanes * kGroups <= kWarpSize, "a row's lanes add up by shuffles");
};

/// Threads that an H200 holds, twice: rows for more than those hide latency by their number.
constexpr Index kManyThreads = 2 * 132 * 2048;

template <class Config, class T>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void row_split_kernel(SpmmProduct<T> p) {
  constexpr int kRowThreads = Config::kLanes * Config::kGroups;
  const Index row = static_cast<Index>(blockIdx.x) * Config::kRows + threadIdx.x / kRowThreads;
  if (row >= p.A.rows) return;
  const int lane = threadIdx.x % Config::kLanes;
  const int group = threadIdx.x % kRowThreads / Config::kLanes;
  const Index column = static_cast<Index>(blockIdx.y) * Config::kSlab + lane * Config::kWidth;

  Lane<T, Config::kWidth> sum;
  if (column < p.N) {
    const Index begin = p.A.row_offsets[row];
    const int length = static_cast<int>(p.A.row_offsets[row + 1] - begin);
    accumulate<Config::kGroups, Config::kUnroll>(p.A.columns + begin, p.A.values + begin, group,
                                                 length, p.B + column, p.ldb, sum);
  }
#pragma unroll
  for (int step = Config::kGroups / 2; step > 0; step /= 2) {
    add_from_lane(step * Config::kLanes, kRowThreads, sum);
  }
  if (column < p.N && group == 0) store(p.alpha, sum, p.beta, p.C + row * p.ldc + column);
}

template <class Config, class T>
void launch(const SpmmProduct<T>& product, cudaStream_t stream) {
  const dim3 grid(blocks_for(product.A.rows, Config::kRows), blocks_for(product.N, Config::kSlab));
  row_split_kernel<Config><<<grid, Config::kThreads, 0, stream>>>(product);
  check_launch();
}

}  // namespace

template <class T>
void launch_row_split(const SpmmProduct<T>& product, int groups, Index most_lanes,
                      cudaStream_t stream) {
  dispatch_lanes(product, most_lanes, [&]<int kWidth, int kLanes>() {
    dispatch_at_least<1, 2, 4, 8, 16, 32>(groups, [&]<int kGroupsWanted>() {
      constexpr int kGroups = std::min(kGroupsWanted, kWarpSize / kLanes);
      if (kGroups > 1 || product.A.rows * kLanes < kManyThreads) {
        launch<RowSplitConfig<T, kWidth, kLanes, kGroups, true>>(product, stream);
      } else if constexpr (kGroups == 1) {
        launch<RowSplitConfig<T, kWidth, kLanes, kGroups, false>>(product, stream);
      }
    });
  });
}

template void launch_row_split(const SpmmProduct<float>&, int, Index, cudaStream_t);
template void launch_row_split(const SpmmProduct<double>&, int, Index, cudaStream_t);

}  // namespace heddle::cuda
