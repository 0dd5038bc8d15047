#include <cub/device/device_scan.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/repeated_rows.hpp>
#include <heddle/spgemm/cuda/row_team.cuh>

namespace heddle::detail {
namespace {

using Flags = Buffer<unsigned char, DeviceSpace>;

/// Threads per row for rows of more than kShortRow entries on average. Shorter rows have a thread.
constexpr int kLanes = 8;
constexpr Index kShortRow = 12;

/// repeats[i] ← whether row i of M has the columns of row i − 1, plus 1, and `required` is set for
/// each of its columns (if not null).
template <int W, class T>
__global__ void repeats_kernel(CsrView<T, DeviceSpace> M, const unsigned char* required,
                               unsigned char* repeats) {
  using Team = RowTeam<W>;
  const Index i = Team::number();
  bool same = i > 0 && i < M.rows;
  Index begin = 0;
  Index length = 0;
  if (same) {
    begin = M.row_offsets[i];
    length = M.row_offsets[i + 1] - begin;
    same = length > 0 && begin - M.row_offsets[i - 1] == length;
  }
  const Index before = begin - length;
  for (Index e = Team::lane(); Team::any(same && e < length); e += W) {
    if (!same || e >= length) continue;
    const std::int32_t column = M.columns[begin + e];
    same = column == M.columns[before + e] + 1 && (required == nullptr || required[column] != 0);
  }
  const unsigned votes = __ballot_sync(kAllLanes, same);
  constexpr unsigned kTeam = (1U << W) - 1;
  const int first = Team::in_block() * W % kWarp;
  if (i < M.rows && Team::lane() == 0) repeats[i] = ((votes >> first) & kTeam) == kTeam ? 1 : 0;
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

template <int W>
__global__ void copy_kernel(const std::int32_t* leaders, Index rows,
                            const std::int64_t* row_offsets, std::int32_t* columns) {
  using Team = RowTeam<W>;
  const Index i = Team::number();
  if (i >= rows) return;
  const Index leader = leaders[i];
  if (leader == i) return;
  const Index begin = row_offsets[i];
  const Index length = row_offsets[i + 1] - begin;
  const std::int32_t* source = columns + row_offsets[leader];
  const auto shift = static_cast<std::int32_t>(i - leader);
  for (Index e = Team::lane(); e < length; e += W) columns[begin + e] = source[e] + shift;
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
                   const std::int64_t* row_offsets, Index nnz, std::int32_t* columns) {
  const auto rows = static_cast<Index>(leaders.size());
  const auto launch = [&]<int W>(std::integral_constant<int, W>) {
    launch_teams<W>(context.stream(), copy_kernel<W>, rows, kThreads, 0, leaders.data(), rows,
                    row_offsets, columns);
  };
  if (nnz > rows * kWarp) {
    launch(std::integral_constant<int, kWarp>{});
  } else {
    launch(std::integral_constant<int, kLanes>{});
  }
}

#define HEDDLE_INSTANTIATE(T)                                                            \
  template DeviceIntegers find_run_leaders(CudaContext&, const CsrView<T, DeviceSpace>&, \
                                           const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
