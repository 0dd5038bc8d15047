#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_rows.hpp>
#include <limits>

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

template <int b, class T, class V>
__global__ __launch_bounds__(NodeRowsConfig::kThreads) void count_chunks_kernel(
    CsrView<T, DeviceSpace> A, NodeRowsView<T, V> rows, Index* chunks) {
  const Index node =
      static_cast<Index>(blockIdx.x) * NodeRowsConfig::kRows + threadIdx.x / kWarpSize;
  if (node >= rows.count) return;
  NodeMerge<b, T> merge(A, node);
  Index blocks = 0;
  for (std::int32_t column = merge.next(); column != merge.kNone; column = merge.next()) {
    ++blocks;
    for (int c = 0; c < b; ++c) merge.take(column * b + c);
  }
  if (threadIdx.x % kWarpSize == 0) chunks[node] = (blocks + kChunkBlocks<T> - 1) / kChunkBlocks<T>;
}

template <int b, class T, class V>
__global__ __launch_bounds__(NodeRowsConfig::kThreads) void fill_chunks_kernel(
    CsrView<T, DeviceSpace> A, NodeRowsView<T, V> rows, std::int32_t* columns, V* values) {
  const Index node =
      static_cast<Index>(blockIdx.x) * NodeRowsConfig::kRows + threadIdx.x / kWarpSize;
  if (node >= rows.count) return;
  const int lane = threadIdx.x % kWarpSize;
  NodeMerge<b, T> merge(A, node);
  std::int32_t last_column = 0;
  for (Index chunk = rows.chunk_begin[node]; chunk < rows.chunk_begin[node + 1]; ++chunk) {
    for (int block = 0; block < kChunkBlocks<T>; ++block) {
      const std::int32_t column = merge.next();
      const bool exists = column != merge.kNone;
      if (exists) last_column = column;
      for (int c = 0; c < b; ++c) {
        const Index from = exists ? merge.take(column * b + c) : -1;
        if (lane >= b) continue;
        values[chunk * chunk_values<T>(b) + chunk_position<T>(b, lane, c, block)] =
            from >= 0 ? static_cast<V>(__ldg(A.values + from)) : V{0};
      }
      if (lane == 0) columns[chunk * kChunkBlocks<T> + block] = last_column;
    }
  }
}

}  // namespace

template <class T, class V>
template <int b>
void NodeRows<T, V>::build(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  using Config = NodeRowsConfig;
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  view_.count = (A.rows + b - 1) / b;
  chunk_begin_ = Buffer<Index, DeviceSpace>(context, size(view_.count + 1));
  const unsigned grid = blocks_for(view_.count, Config::kRows);
  check(cudaMemsetAsync(chunk_begin_.data() + view_.count, 0, sizeof(Index), context.stream()));
  if (grid > 0) {
    count_chunks_kernel<b>
        <<<grid, Config::kThreads, 0, context.stream()>>>(A, view_, chunk_begin_.data());
    check_launch();
  }
  const Index chunks = exclusive_sum(context, chunk_begin_.data(), view_.count + 1);
  columns_ = Buffer<std::int32_t, DeviceSpace>(context, size(chunks * kChunkBlocks<T>));
  values_ = Buffer<V, DeviceSpace>(context, size(chunks * chunk_values<T>(b)));
  view_.chunk_begin = chunk_begin_.data();
  view_.columns = columns_.data();
  view_.values = values_.data();
  if (grid > 0) {
    fill_chunks_kernel<b><<<grid, Config::kThreads, 0, context.stream()>>>(
        A, view_, columns_.data(), values_.data());
    check_launch();
  }
}

template <class T, class V>
NodeRows<T, V>::NodeRows(CudaContext& context, const CsrView<T, DeviceSpace>& A, int b) : b_(b) {
  dispatch_at_least<2, 3, 4, 5, 6, 7, 8>(b, [&]<int kNode>() { build<kNode>(context, A); });
}

#define HEDDLE_INSTANTIATE(T, V) template class NodeRows<T, V>;
HEDDLE_FOR_EACH_STORED_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
