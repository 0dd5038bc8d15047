#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spmm/features/node_fills.hpp>

namespace heddle::detail::cuda {
namespace {

struct NodeFillsConfig {
  static constexpr int kThreads = 128;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kSamples = 1024;      // node rows per size
  static constexpr Index kRowEntries = 256;  // counted of a row, so that long ones end
};

/// The rows of a node: entries begins[r] … ends[r] − 1 of its row r.
struct NodeRow {
  Index begins[kLargestNode];
  Index ends[kLargestNode];
};

/// Finds the rows of a node of b rows. If some have more entries than are counted, all end before
/// the node of columns in which the first of these has that number. One warp.
template <class Config>
__device__ void find_rows(const std::int64_t* row_offsets, const std::int32_t* columns, Index rows,
                          int b, Index node, NodeRow& found) {
  constexpr unsigned kNone = 0xffffffffU;
  const int lane = lane_index();
  const Index row = min(node * b + min(lane, b), rows);
  const Index begin = row_offsets[row];
  Index end = lane < b ? row_offsets[min(row + 1, rows)] : begin;
  const bool is_long = end - begin > Config::kRowEntries;
  const unsigned limit = __reduce_min_sync(
      0xffffffffU,
      is_long ? static_cast<unsigned>(columns[begin + Config::kRowEntries] / b) : kNone);
  if (limit != kNone) {
    end = begin + count_below(columns + begin, min(end - begin, Config::kRowEntries),
                              static_cast<Index>(limit) * b);
  }
  if (lane < b) {
    found.begins[lane] = begin;
    found.ends[lane] = end;
  }
  __syncwarp();
}

/// Whether no row of the node before row r has an entry in the node of columns `column`.
__device__ bool is_first(const NodeRow& node, const std::int32_t* columns, int b, int r,
                         std::int32_t column) {
  for (int q = 0; q < r; ++q) {
    const Index place = node.begins[q] + count_below(columns + node.begins[q],
                                                     node.ends[q] - node.begins[q], column * b);
    if (place < node.ends[q] && columns[place] / b == column) return false;
  }
  return true;
}

/// The share of a lane in the counts of a node row.
__device__ NodeRowCount count_node_row(const NodeRow& node, const std::int32_t* columns, int b) {
  NodeRowCount count;
  for (int r = 0; r < b; ++r) {
    for (Index e = node.begins[r] + lane_index(); e < node.ends[r]; e += kWarp) {
      const std::int32_t column = columns[e] / b;
      ++count.entries;
      if (e > node.begins[r] && columns[e - 1] / b == column) continue;
      count.blocks += is_first(node, columns, b, r, column) ? 1 : 0;
    }
  }
  return count;
}

/// sums[b − kSmallestNode] += what is counted in the sampled node rows for size b. A warp per
/// sample, a row of the grid per size.
template <class Config>
__global__ __launch_bounds__(Config::kThreads) void node_fills_kernel(
    const std::int64_t* row_offsets, const std::int32_t* columns, Index rows, NodeRowCount* sums) {
  __shared__ NodeRow found[Config::kWarps];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int b = kSmallestNode + static_cast<int>(blockIdx.y);
  const Index nodes = (rows + b - 1) / b;
  const Index stride = (nodes + Config::kSamples - 1) / Config::kSamples;
  const Index node = (static_cast<Index>(blockIdx.x) * Config::kWarps + warp) * stride;
  if (node >= nodes) return;
  find_rows<Config>(row_offsets, columns, rows, b, node, found[warp]);
  const NodeRowCount count = count_node_row(found[warp], columns, b);
  __syncwarp();
  add_of_warp(count.entries, &sums[blockIdx.y].entries);
  add_of_warp(count.blocks, &sums[blockIdx.y].blocks);
}

}  // namespace

template <class T>
void count_node_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, NodeRowCounts* sums) {
  using Config = NodeFillsConfig;
  if (A.rows == 0) return;
  const dim3 grid(Config::kSamples / Config::kWarps,
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
