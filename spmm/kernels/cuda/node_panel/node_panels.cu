#include <cub/device/device_scan.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/node_panel/node_panels.hpp>
#include <algorithm>
#include <limits>
#include <cstdlib>
#include <cstdio>
#include <chrono>
#include <vector>

namespace heddle::detail::cuda {
namespace {

struct NodePanelsConfig {
  static constexpr int kThreads = 128;
  static constexpr int kPanels = kThreads / kWarpSize;  // a warp per panel, a lane per row
};

/// Merges the rows of a panel by node columns, one lane per row.
template <int b, class T>
class NodeMerge {
 public:
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  using Shape = NodeShape<b>;

  __device__ NodeMerge(const CsrView<T, DeviceSpace>& A, const std::int32_t* order, Index nodes,
                       Index panel)
      : columns_(A.columns) {
    const int lane = threadIdx.x % kWarpSize;
    const Index slot = panel * Shape::kPanelNodes + lane / b;
    if (lane >= Shape::kPanelNodes * b || slot >= nodes) return;
    const Index row = (order != nullptr ? order[slot] : slot) * b + lane % b;
    if (row >= A.rows) return;
    position_ = A.row_offsets[row];
    end_ = A.row_offsets[row + 1];
    read_head();
  }

  /// The smallest unread node column, the same in all lanes, `kNone` at the end.
  __device__ std::int32_t next() const {
    const std::int32_t own = head_ == kNone ? kNone : head_ / b;
    return __reduce_min_sync(kFullWarp, own);
  }

  /// Bit r is set if the panel's node r has an entry in the node column.
  __device__ unsigned nodes_with(std::int32_t node_column) const {
    const int lane = threadIdx.x % kWarpSize;
    const unsigned rows = __ballot_sync(kFullWarp, head_ != kNone && head_ / b == node_column);
    const bool any = lane < Shape::kPanelNodes && (rows >> (lane * b) & ((1u << b) - 1)) != 0;
    return __ballot_sync(kFullWarp, any);
  }

  /// If this lane's row has an entry in the column, marks it as read and returns its position,
  /// otherwise −1.
  __device__ Index take(std::int32_t column) {
    if (head_ != column) return -1;
    const Index position = position_++;
    read_head();
    return position;
  }

 private:
  __device__ void read_head() { head_ = position_ < end_ ? __ldg(columns_ + position_) : kNone; }

  const std::int32_t* columns_;
  Index position_ = 0;
  Index end_ = 0;
  std::int32_t head_ = kNone;
};

/// The number of groups and blocks of each panel.
template <int b, class T>
__global__ __launch_bounds__(NodePanelsConfig::kThreads) void count_groups_kernel(
    CsrView<T, DeviceSpace> A, NodePanelsView<T> panels, Index* groups, Index* blocks) {
  using Shape = NodeShape<b>;
  const Index panel =
      static_cast<Index>(blockIdx.x) * NodePanelsConfig::kPanels + threadIdx.x / kWarpSize;
  if (panel >= panels.count) return;
  NodeMerge<b, T> merge(A, panels.order, panels.nodes, panel);
  Index distinct = 0;
  Index count = 0;
  for (std::int32_t column = merge.next(); column != merge.kNone; column = merge.next()) {
    ++distinct;
    count += __popc(merge.nodes_with(column));
    for (int c = 0; c < b; ++c) merge.take(column * b + c);
  }
  if (threadIdx.x % kWarpSize == 0) {
    groups[panel] = (distinct + Shape::kGroupNodes - 1) / Shape::kGroupNodes;
    blocks[panel] = count;
  }
}

template <int b, class T>
__global__ __launch_bounds__(NodePanelsConfig::kThreads) void fill_groups_kernel(
    CsrView<T, DeviceSpace> A, NodePanelsView<T> panels, NodeGroup* groups, std::int32_t* columns,
    T* values) {
  using Shape = NodeShape<b>;
  const Index panel =
      static_cast<Index>(blockIdx.x) * NodePanelsConfig::kPanels + threadIdx.x / kWarpSize;
  if (panel >= panels.count) return;
  const int lane = threadIdx.x % kWarpSize;
  NodeMerge<b, T> merge(A, panels.order, panels.nodes, panel);
  constexpr int kInner = Shape::kGroupNodes * b;
  __shared__ T staged[NodePanelsConfig::kPanels][kWarpSize][kInner];
  T(&own_values)[kWarpSize][kInner] = staged[threadIdx.x / kWarpSize];
  T* to = values + panels.block_begin[panel] * (b * b);
  std::uint32_t blocks = 0;
  for (Index group = panels.group_begin[panel]; group < panels.group_begin[panel + 1]; ++group) {
    NodeGroup own{0, blocks};
    std::int32_t last_column = 0;
    for (int c = 0; c < Shape::kGroupNodes; ++c) {
      const std::int32_t column = merge.next();
      unsigned nodes = 0;
      const bool exists = column != merge.kNone;
      if (exists) {
        last_column = column;
        nodes = merge.nodes_with(column);
      }
      for (int k = 0; k < b; ++k) {
        const Index from = exists ? merge.take(column * b + k) : -1;
        own_values[lane][c * b + k] = from >= 0 ? __ldg(A.values + from) : T{0};
      }
      own.present |= nodes << (c * Shape::kPanelNodes);
      blocks += __popc(nodes);
      if (lane == 0) columns[group * Shape::kGroupNodes + c] = last_column;
    }
    if (lane == 0) groups[group] = own;
    __syncwarp();
    for (int s = 0; s < Shape::kGroupTiles; ++s) {
      for (int t = 0; t < Shape::kPanelTiles; ++t) {
        const bool present = (own.present & Shape::block_bit(t, s, lane)) != 0;
        const unsigned all = __ballot_sync(kFullWarp, present);
        if (present) to[__popc(all & ((1u << lane) - 1))] = own_values[8 * t + lane / 4][4 * s + lane % 4];
        to += __popc(all);
      }
    }
    __syncwarp();
  }
}

/// begin[i] = Σ of the counts before i, in place. Returns begin[size − 1].
Index exclusive_sum(CudaContext& context, Index* counts, Index size) {
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, counts, size, context.stream()));
  Buffer<char, DeviceSpace> scratch(context, bytes);
  check(
      cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, counts, counts, size, context.stream()));
  Index total = 0;
  context.copy_to_host(&total, counts + size - 1, sizeof total);
  return total;
}

// EXPERIMENT: greedy clusters on the host.
std::vector<std::int32_t> greedy_order(const std::vector<std::int64_t>& offsets,
                                       const std::vector<std::int32_t>& columns, int b, int q) {
  const auto rows = static_cast<Index>(offsets.size()) - 1;
  const Index nodes = (rows + b - 1) / b;
  std::vector<Index> begin{0};
  std::vector<std::int32_t> cols;
  for (Index node = 0; node < nodes; ++node) {
    std::int32_t last = -1;
    for (auto k = offsets[static_cast<std::size_t>(node * b)];
         k < offsets[static_cast<std::size_t>(node * b + 1)]; ++k) {
      const std::int32_t c = columns[static_cast<std::size_t>(k)] / b;
      if (c != last) cols.push_back(c);
      last = c;
    }
    begin.push_back(static_cast<Index>(cols.size()));
  }
  std::vector<char> taken(static_cast<std::size_t>(nodes), 0);
  std::vector<Index> mark(static_cast<std::size_t>(nodes), -1);
  std::vector<int> score(static_cast<std::size_t>(nodes), 0);
  std::vector<std::int32_t> order;
  std::vector<std::int32_t> members;
  std::vector<std::int32_t> candidates;
  for (Index seed = 0; seed < nodes; ++seed) {
    if (taken[static_cast<std::size_t>(seed)]) continue;
    members.clear();
    candidates.clear();
    auto pick = static_cast<std::int32_t>(seed);
    for (;;) {
      taken[static_cast<std::size_t>(pick)] = 1;
      members.push_back(pick);
      if (static_cast<int>(members.size()) == q) break;
      // score: number of members that are neighbours; members' own neighbours are candidates
      const auto P = static_cast<std::size_t>(pick);
      for (Index k = begin[P]; k < begin[P + 1]; ++k) {
        const std::int32_t c = cols[static_cast<std::size_t>(k)];
        const auto J = static_cast<std::size_t>(c);
        if (taken[J]) continue;
        if (mark[J] != seed) {
          mark[J] = seed;
          score[J] = 0;
          candidates.push_back(c);
        }
        ++score[J];
      }
      std::int32_t next = -1;
      int best = 0;
      for (const std::int32_t c : candidates) {
        const auto J = static_cast<std::size_t>(c);
        if (taken[J]) continue;
        if (score[J] > best || (score[J] == best && c < next)) {
          best = score[J];
          next = c;
        }
      }
      if (next < 0) break;
      pick = next;
    }
    std::sort(members.begin(), members.end());
    order.insert(order.end(), members.begin(), members.end());
  }
  return order;
}

}  // namespace

template <class T>
template <int b>
void NodePanels<T>::build(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  using Shape = NodeShape<b>;
  using Config = NodePanelsConfig;
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  view_.nodes = (A.rows + b - 1) / b;
  view_.count = (view_.nodes + Shape::kPanelNodes - 1) / Shape::kPanelNodes;
  if (const char* e = std::getenv("HEDDLE_NODE_ORDER"); e != nullptr && *e == 'g') {
    std::vector<std::int64_t> offsets(size(A.rows + 1));
    std::vector<std::int32_t> columns(size(A.nnz));
    context.copy_to_host(offsets.data(), A.row_offsets, offsets.size() * 8);
    context.copy_to_host(columns.data(), A.columns, columns.size() * 4);
    const auto t0 = std::chrono::steady_clock::now();
    const auto order = greedy_order(offsets, columns, b, Shape::kPanelNodes);
    std::fprintf(stderr, "greedy order %.3f s\n",
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count());
    order_ = Buffer<std::int32_t, DeviceSpace>(context, order.size());
    context.copy_to_device(order_.data(), order.data(), order.size() * 4);
    view_.order = order_.data();
  }
  group_begin_ = Buffer<Index, DeviceSpace>(context, size(view_.count + 1));
  block_begin_ = Buffer<Index, DeviceSpace>(context, size(view_.count + 1));
  const unsigned grid = blocks_for(view_.count, Config::kPanels);
  check(cudaMemsetAsync(group_begin_.data() + view_.count, 0, sizeof(Index), context.stream()));
  check(cudaMemsetAsync(block_begin_.data() + view_.count, 0, sizeof(Index), context.stream()));
  if (grid > 0) {
    count_groups_kernel<b><<<grid, Config::kThreads, 0, context.stream()>>>(
        A, view_, group_begin_.data(), block_begin_.data());
    check_launch();
  }
  groups_count_ = exclusive_sum(context, group_begin_.data(), view_.count + 1);
  blocks_ = exclusive_sum(context, block_begin_.data(), view_.count + 1);
  groups_ = Buffer<NodeGroup, DeviceSpace>(context, size(groups_count_));
  columns_ = Buffer<std::int32_t, DeviceSpace>(context, size(groups_count_ * Shape::kGroupNodes));
  values_ = Buffer<T, DeviceSpace>(context, size(blocks_ * b * b));
  view_.group_begin = group_begin_.data();
  view_.block_begin = block_begin_.data();
  view_.groups = groups_.data();
  view_.columns = columns_.data();
  view_.values = values_.data();
  if (grid > 0) {
    fill_groups_kernel<b><<<grid, Config::kThreads, 0, context.stream()>>>(
        A, view_, groups_.data(), columns_.data(), values_.data());
    check_launch();
  }
  if (std::getenv("HEDDLE_NODE_ORDER") != nullptr) {
    std::fprintf(stderr, "b %d: %ld panels, %ld groups, %ld blocks, block fill in groups %.3f\n", b,
                 (long)view_.count, (long)groups_count_, (long)blocks_,
                 (double)blocks_ / (double)(groups_count_ * Shape::kGroupNodes * Shape::kPanelNodes));
  }
}

template <class T>
NodePanels<T>::NodePanels(CudaContext& context, const CsrView<T, DeviceSpace>& A, int b) : b_(b) {
  dispatch_at_least<2, 3, 4, 5, 6, 7, 8>(b, [&]<int kNode>() { build<kNode>(context, A); });
}

#define HEDDLE_INSTANTIATE(T) template class NodePanels<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
