#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spgemm/cuda/block_rows.hpp>
#include <heddle/spgemm/cuda/row_team.cuh>

namespace heddle::detail {
namespace {

/// Threads per row for rows of more than kShortRow entries on average. Shorter rows have a thread.
constexpr int kLanes = 8;
constexpr Index kShortRow = 12;

/// Whether entry e is the first one of its block in a row that begins with entry `begin`.
template <class T>
__device__ bool begins_block(const CsrView<T, DeviceSpace>& M, Index begin, Index e) {
  return e == begin || block_of(M.columns[e - 1]) != block_of(M.columns[e]);
}

/// The number of entries of this row before entry e, of W entries at a time, that satisfy
/// `is_head`, by the votes of a warp.
__device__ inline int heads_before(unsigned votes) {
  const int lane = lane_index();
  const int first = lane / kLanes * kLanes;
  return __popc((votes >> first) & ((1U << (lane - first)) - 1));
}

template <int W, class T>
__global__ void count_kernel(CsrView<T, DeviceSpace> M, std::int32_t* counts) {
  using Team = RowTeam<W>;
  const Index i = Team::number();
  const Index begin = i < M.rows ? M.row_offsets[i] : 0;
  const Index end = i < M.rows ? M.row_offsets[i + 1] : 0;
  int count = 0;
  for (Index e = begin + Team::lane(); e < end; e += W) count += begins_block(M, begin, e);
  __syncwarp();
  count = lane_sum<W>(count);
  if (i < M.rows && Team::lane() == 0) counts[i] = count;
}

template <class T>
__global__ void fill_kernel(CsrView<T, DeviceSpace> M, const std::int64_t* offsets,
                            std::int32_t* keys, unsigned* masks) {
  using Team = RowTeam<kLanes>;
  const Index i = Team::number();
  const Index begin = i < M.rows ? M.row_offsets[i] : 0;
  const Index end = i < M.rows ? M.row_offsets[i + 1] : 0;
  Index next = i < M.rows ? offsets[i] : 0;
  for (Index e = begin + Team::lane(); Team::any(e < end); e += kLanes) {
    const bool head = e < end && begins_block(M, begin, e);
    const unsigned votes = __ballot_sync(kAllLanes, head);
    if (head) {
      const std::int32_t key = block_of(M.columns[e]);
      unsigned mask = 0;
      for (Index m = e; m < end && block_of(M.columns[m]) == key; ++m) mask |= bit_of(M.columns[m]);
      keys[next + heads_before(votes)] = key;
      masks[next + heads_before(votes)] = mask;
    }
    const int first = lane_index() / kLanes * kLanes;
    next += __popc((votes >> first) & ((1U << kLanes) - 1));
  }
}

__global__ void widen_kernel(const std::int32_t* numbers, Index count, std::int64_t* wide) {
  for (Index i = thread_index(); i < count; i += thread_count()) wide[i] = numbers[i];
}

}  // namespace

template <Scalar T>
DeviceIntegers count_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M) {
  DeviceIntegers counts(context, static_cast<std::size_t>(M.rows));
  if (M.nnz <= kShortRow * M.rows) {
    launch_teams<1>(context.stream(), count_kernel<1, T>, M.rows, kThreads, 0, M, counts.data());
  } else {
    launch_teams<kLanes>(context.stream(), count_kernel<kLanes, T>, M.rows, kThreads, 0, M,
                         counts.data());
  }
  return counts;
}

Index block_offsets(CudaContext& context, const DeviceIntegers& blocks, std::int64_t* offsets) {
  const auto rows = static_cast<Index>(blocks.size());
  widen_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(blocks.data(), rows,
                                                                           offsets);
  check_launch();
  return exclusive_sum(context, offsets, rows + 1);
}

template <Scalar T>
void fill_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M,
                 const std::int64_t* offsets, std::int32_t* keys, unsigned* masks) {
  launch_teams<kLanes>(context.stream(), fill_kernel<T>, M.rows, kThreads, 0, M, offsets, keys,
                       masks);
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template DeviceIntegers count_blocks(CudaContext&, const CsrView<T, DeviceSpace>&);          \
  template void fill_blocks(CudaContext&, const CsrView<T, DeviceSpace>&, const std::int64_t*, \
                            std::int32_t*, unsigned*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
