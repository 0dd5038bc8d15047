#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/features/node_fills.hpp>
#include <limits>

namespace heddle::detail::cuda {
namespace {

struct NodeFillsConfig {
  static constexpr int kThreads = 64;
  static constexpr int kSamples = 4096;     // node rows per size
  static constexpr int kMostBlocks = 1024;  // counted in a node row, so that long ones end
};

template <int b>
__device__ NodeRowCount count_node_row(const std::int64_t* row_offsets, const std::int32_t* columns,
                                       Index rows, Index node) {
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  Index position[b];
  Index end[b];
  NodeRowCount count{0, 0};
#pragma unroll
  for (int r = 0; r < b; ++r) {
    const Index row = min(node * b + r, rows);
    position[r] = row_offsets[row];
    end[r] = row_offsets[min(row + 1, rows)];
  }
  while (count.blocks < NodeFillsConfig::kMostBlocks) {
    std::int32_t column = kNone;
#pragma unroll
    for (int r = 0; r < b; ++r) {
      if (position[r] < end[r]) column = min(column, __ldg(columns + position[r]) / b);
    }
    if (column == kNone) break;
    ++count.blocks;
#pragma unroll
    for (int r = 0; r < b; ++r) {
      for (; position[r] < end[r] && __ldg(columns + position[r]) / b == column; ++position[r]) {
        ++count.entries;
      }
    }
  }
  return count;
}

__device__ NodeRowCount count_node_row(int b, const std::int64_t* row_offsets,
                                       const std::int32_t* columns, Index rows, Index node) {
  switch (b) {
    case 2:
      return count_node_row<2>(row_offsets, columns, rows, node);
    case 3:
      return count_node_row<3>(row_offsets, columns, rows, node);
    case 4:
      return count_node_row<4>(row_offsets, columns, rows, node);
    case 5:
      return count_node_row<5>(row_offsets, columns, rows, node);
    case 6:
      return count_node_row<6>(row_offsets, columns, rows, node);
    case 7:
      return count_node_row<7>(row_offsets, columns, rows, node);
    default:
      return count_node_row<8>(row_offsets, columns, rows, node);
  }
}

/// Adds `value` of all lanes of a warp to *sum. Sums of integers do not depend on their order.
__device__ void add_of_warp(Index value, Index* sum) {
  constexpr unsigned kAllLanes = 0xffffffffU;
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
  }
}

/// sums[b − kSmallestNode] += what is counted in the sampled node rows for size b. A thread per
/// sample, a row of the grid per size.
template <class Config>
__global__ __launch_bounds__(Config::kThreads) void node_fills_kernel(
    const std::int64_t* row_offsets, const std::int32_t* columns, Index rows, NodeRowCount* sums) {
  const Index sample = static_cast<Index>(blockIdx.x) * Config::kThreads + threadIdx.x;
  const int b = kSmallestNode + static_cast<int>(blockIdx.y);
  const Index nodes = (rows + b - 1) / b;
  const Index stride = (nodes + Config::kSamples - 1) / Config::kSamples;
  const Index node = sample * stride;
  const NodeRowCount count =
      node < nodes ? count_node_row(b, row_offsets, columns, rows, node) : NodeRowCount{0, 0};
  add_of_warp(count.entries, &sums[blockIdx.y].entries);
  add_of_warp(count.blocks, &sums[blockIdx.y].blocks);
}

}  // namespace

template <class T>
void count_node_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, NodeRowCounts* sums) {
  using Config = NodeFillsConfig;
  if (A.rows == 0) return;
  const dim3 grid(Config::kSamples / Config::kThreads,
                  static_cast<unsigned>(std::tuple_size_v<NodeRowCounts>));
  node_fills_kernel<Config><<<grid, Config::kThreads, 0, context.stream()>>>(
      A.row_offsets, A.columns, A.rows, reinterpret_cast<NodeRowCount*>(sums));
  check_launch();
}

NodeFills node_fills(const NodeRowCounts& counts) {
  NodeFills fills{};
  for (std::size_t i = 0; i < fills.size(); ++i) {
    const auto entries = static_cast<double>(counts[i].entries);
    const auto blocks = static_cast<double>(counts[i].blocks);
    const auto b = static_cast<double>(i + kSmallestNode);
    fills[i] = blocks > 0 ? entries / (blocks * b * b) : 0;
  }
  return fills;
}

#define HEDDLE_INSTANTIATE(T) \
  template void count_node_rows(CudaContext&, const CsrView<T, DeviceSpace>&, NodeRowCounts*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
