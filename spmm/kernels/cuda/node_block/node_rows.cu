#include <cub/device/device_scan.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/node_block/node_rows.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace heddle::detail::cuda {
namespace {

struct NodeRowsConfig {
  static constexpr int kThreads = 128;
  static constexpr int kRows = kThreads / kWarpSize;  // a warp per node row, a lane per row of A
};

/// Merges the rows of a node by node columns, one lane per row. All lanes of the warp take part.
template <int b, class T>
class NodeMerge {
 public:
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();

  __device__ NodeMerge(const CsrView<T, DeviceSpace>& A, Index node) : columns_(A.columns) {
    const int lane = threadIdx.x % kWarpSize;
    const Index row = node * b + lane;
    if (lane >= b || row >= A.rows) return;
    position_ = A.row_offsets[row];
    end_ = A.row_offsets[row + 1];
    read_head();
  }

  /// The smallest unread node column, the same in all lanes, `kNone` at the end.
  __device__ std::int32_t next() const {
    const std::int32_t own = head_ == kNone ? kNone : head_ / b;
    return __reduce_min_sync(kFullWarp, own);
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

/// The node row that this warp stores, −1 if there is none.
template <class T>
__device__ Index own_node(const NodeRowsView<T>& rows, Index place) {
  if (place >= rows.count) return -1;
  return rows.order != nullptr ? rows.order[place] : place;
}

template <int b, class T>
__global__ __launch_bounds__(NodeRowsConfig::kThreads) void count_chunks_kernel(
    CsrView<T, DeviceSpace> A, NodeRowsView<T> rows, Index* chunks) {
  constexpr int kBlocks = NodeChunk<T, b>::kBlocks;
  const Index place =
      static_cast<Index>(blockIdx.x) * NodeRowsConfig::kRows + threadIdx.x / kWarpSize;
  const Index node = own_node(rows, place);
  if (node < 0) return;
  NodeMerge<b, T> merge(A, node);
  Index blocks = 0;
  for (std::int32_t column = merge.next(); column != merge.kNone; column = merge.next()) {
    ++blocks;
    for (int c = 0; c < b; ++c) merge.take(column * b + c);
  }
  if (threadIdx.x % kWarpSize == 0) chunks[place] = (blocks + kBlocks - 1) / kBlocks;
}

template <int b, class T>
__global__ __launch_bounds__(NodeRowsConfig::kThreads) void fill_chunks_kernel(
    CsrView<T, DeviceSpace> A, NodeRowsView<T> rows, std::int32_t* columns, T* values) {
  using Chunk = NodeChunk<T, b>;
  const Index place =
      static_cast<Index>(blockIdx.x) * NodeRowsConfig::kRows + threadIdx.x / kWarpSize;
  const Index node = own_node(rows, place);
  if (node < 0) return;
  const int lane = threadIdx.x % kWarpSize;
  NodeMerge<b, T> merge(A, node);
  std::int32_t last_column = 0;
  for (Index chunk = rows.chunk_begin[place]; chunk < rows.chunk_begin[place + 1]; ++chunk) {
    for (int block = 0; block < Chunk::kBlocks; ++block) {
      const std::int32_t column = merge.next();
      const bool exists = column != merge.kNone;
      if (exists) last_column = column;
      for (int c = 0; c < b; ++c) {
        const Index from = exists ? merge.take(column * b + c) : -1;
        if (lane >= b) continue;
        values[chunk * Chunk::kValues + Chunk::position(lane, block * b + c)] =
            from >= 0 ? __ldg(A.values + from) : T{0};
      }
      if (lane == 0) columns[chunk * Chunk::kBlocks + block] = last_column;
    }
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
void NodeRows<T>::build(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  using Chunk = NodeChunk<T, b>;
  using Config = NodeRowsConfig;
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  view_.count = (A.rows + b - 1) / b;
  if (const char* e = std::getenv("HEDDLE_NODE_ORDER"); e != nullptr && *e == 'g') {
    std::vector<std::int64_t> offsets(size(A.rows + 1));
    std::vector<std::int32_t> columns(size(A.nnz));
    context.copy_to_host(offsets.data(), A.row_offsets, offsets.size() * 8);
    context.copy_to_host(columns.data(), A.columns, columns.size() * 4);
    const auto t0 = std::chrono::steady_clock::now();
    const auto order = greedy_order(offsets, columns, b, std::atoi(e + 1));
    std::fprintf(stderr, "greedy order %.3f s\n",
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count());
    order_ = Buffer<std::int32_t, DeviceSpace>(context, order.size());
    context.copy_to_device(order_.data(), order.data(), order.size() * 4);
    view_.order = order_.data();
  }
  chunk_begin_ = Buffer<Index, DeviceSpace>(context, size(view_.count + 1));
  const unsigned grid = blocks_for(view_.count, Config::kRows);
  check(cudaMemsetAsync(chunk_begin_.data() + view_.count, 0, sizeof(Index), context.stream()));
  if (grid > 0) {
    count_chunks_kernel<b>
        <<<grid, Config::kThreads, 0, context.stream()>>>(A, view_, chunk_begin_.data());
    check_launch();
  }
  const Index chunks = exclusive_sum(context, chunk_begin_.data(), view_.count + 1);
  columns_ = Buffer<std::int32_t, DeviceSpace>(context, size(chunks * Chunk::kBlocks));
  values_ = Buffer<T, DeviceSpace>(context, size(chunks * Chunk::kValues));
  view_.chunk_begin = chunk_begin_.data();
  view_.columns = columns_.data();
  view_.values = values_.data();
  if (grid > 0) {
    fill_chunks_kernel<b><<<grid, Config::kThreads, 0, context.stream()>>>(
        A, view_, columns_.data(), values_.data());
    check_launch();
  }
}

template <class T>
NodeRows<T>::NodeRows(CudaContext& context, const CsrView<T, DeviceSpace>& A, int b) : b_(b) {
  dispatch_at_least<2, 3, 4, 5, 6, 7, 8>(b, [&]<int kNode>() { build<kNode>(context, A); });
}

#define HEDDLE_INSTANTIATE(T) template class NodeRows<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
