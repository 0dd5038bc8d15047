#include <cub/device/device_scan.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/repeated_rows.cuh>
#include <heddle/spgemm/cuda/row_team.cuh>

namespace heddle::detail {
namespace {

using Flags = Buffer<unsigned char, DeviceSpace>;

/// Threads per row for rows of more than kShortRow entries on average. Shorter rows have a thread.
constexpr int kLanes = 8;
constexpr Index kShortRow = 12;

template <int W, class T>
__global__ void repeats_kernel(CsrView<T, DeviceSpace> M, const unsigned char* required,
                               unsigned char* repeats) {
  const Index i = RowTeam<W>::number();
  const bool same = row_repeats<W>(M, i, required);
  if (i < M.rows && RowTeam<W>::lane() == 0) repeats[i] = same ? 1 : 0;
}

template <class T>
Flags find_repeats(CudaContext& context, const CsrView<T, DeviceSpace>& M, const Flags* required) {
  Flags repeats(context, static_cast<std::size_t>(M.rows));
  const unsigned char* wanted = required != nullptr ? required->data() : nullptr;
  if (M.nnz <= kShortRow * M.rows) {
    launch_teams<1>(context.stream(), repeats_kernel<1, T>, M.rows, kThreads, 0, M, wanted,
                    repeats.data());
  } else {
    launch_teams<kLanes>(context.stream(), repeats_kernel<kLanes, T>, M.rows, kThreads, 0, M,
                         wanted, repeats.data());
  }
  return repeats;
}

__global__ void own_numbers_kernel(const unsigned char* repeats, Index rows,
                                   std::int32_t* leaders) {
  for (Index i = thread_index(); i < rows; i += thread_count()) {
    leaders[i] = repeats[i] != 0 ? 0 : static_cast<std::int32_t>(i);
  }
}

struct Larger {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a > b ? a : b; }
};

/// Reads entries of leaders, which it does not write, as leaders[leaders[i]] = leaders[i].
__global__ void spread_kernel(const std::int32_t* leaders, Index rows, Index* counts) {
  for (Index i = thread_index(); i < rows; i += thread_count()) {
    if (leaders[i] != i) counts[i] = counts[leaders[i]];
  }
}

/// A warp looks at 32 rows, one per lane, and copies those that need it one after the other.
__global__ void copy_kernel(const std::int32_t* leaders, Index rows,
                            const std::int64_t* row_offsets, std::int32_t* columns) {
  const Index mine = RowTeam<1>::number();
  bool is_copied = mine < rows && leaders[mine] != mine;
  if (is_copied) {
    const Index entries = row_offsets[mine + 1] - row_offsets[mine];
    is_copied = !chunk_of(leaders, rows, mine).is_computed(entries);
  }
  __syncwarp();
  for (unsigned left = __ballot_sync(kAllLanes, is_copied); left != 0; left &= left - 1) {
    const Index i = mine - lane_index() + __ffs(static_cast<int>(left)) - 1;
    const Index leader = leaders[i];
    const Index begin = row_offsets[i];
    const Index length = row_offsets[i + 1] - begin;
    const std::int32_t* source = columns + row_offsets[leader];
    const auto shift = static_cast<std::int32_t>(i - leader);
    for (Index e = lane_index(); e < length; e += kWarp) columns[begin + e] = source[e] + shift;
  }
}

}  // namespace

template <Scalar T>
DeviceIntegers find_run_leaders(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                const CsrView<T, DeviceSpace>& B) {
  DeviceIntegers leaders(context, static_cast<std::size_t>(A.rows));
  if (A.rows == 0) return leaders;
  const Flags in_B = find_repeats(context, B, nullptr);
  const Flags in_A = find_repeats(context, A, &in_B);
  own_numbers_kernel<<<grid_for(context, A.rows), kThreads, 0, context.stream()>>>(
      in_A.data(), A.rows, leaders.data());
  check_launch();
  const auto scan = [&](void* scratch, std::size_t& bytes) {
    check(cub::DeviceScan::InclusiveScan(scratch, bytes, leaders.data(), leaders.data(), Larger{},
                                         A.rows, context.stream()));
  };
  std::size_t bytes = 0;
  scan(nullptr, bytes);
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  scan(scratch.data(), bytes);
  return leaders;
}

void spread_counts(CudaContext& context, const DeviceIntegers& leaders, Index* counts) {
  const auto rows = static_cast<Index>(leaders.size());
  spread_kernel<<<grid_for(context, rows), kThreads, 0, context.stream()>>>(leaders.data(), rows,
                                                                            counts);
  check_launch();
}

void copy_patterns(CudaContext& context, const DeviceIntegers& leaders,
                   const std::int64_t* row_offsets, std::int32_t* columns) {
  const auto rows = static_cast<Index>(leaders.size());
  launch_teams<1>(context.stream(), copy_kernel, rows, kThreads, 0, leaders.data(), rows,
                  row_offsets, columns);
}

#define HEDDLE_INSTANTIATE(T)                                                            \
  template DeviceIntegers find_run_leaders(CudaContext&, const CsrView<T, DeviceSpace>&, \
                                           const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
