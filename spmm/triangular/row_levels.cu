#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/triangular/row_levels.hpp>
#include <heddle/spmm/triangular/row_signals.cuh>

namespace heddle::detail::cuda {
namespace {

/// Entries per thread of the team that finds the level of one row. With small teams the device
/// holds more rows at once, and rows far apart find their levels at the same time.
constexpr Index kEntriesPerThread = 4;

/// A warp asks in every kTurns-th turn of its loop whether the search has been given up, because
/// all warps ask at the same address.
constexpr int kTurns = 64;

/// The pattern of a triangular matrix, and the levels of its rows as far as they are known.
struct LevelSearch {
  Index rows;
  const std::int64_t* row_offsets;
  const std::int32_t* columns;
  bool lower;
  Index most;             // levels
  std::int32_t* levels;   // of each row, -1 until it is known
  std::uint32_t* counts;  // tickets, and whether there are more levels than `most`
};

/// The threads of a team look at entries of its row one after the other, each at every kTeam-th
/// one, and stay at an entry until the level of its row is known. Teams of a warp may depend on
/// each other, so the threads of a warp run the loop together. A level is its own flag: nothing
/// else is read of another row.
template <int kTeam>
__global__ __launch_bounds__(kThreads) void levels_kernel(LevelSearch s) {
  constexpr int kRows = kThreads / kTeam;
  const int member = static_cast<int>(threadIdx.x) % kTeam;
  const unsigned mask = kFullWarp >> (kWarp - kTeam) << (lane_index() / kTeam * kTeam);
  const SharedNumber<std::uint32_t> too_many(s.counts[1]);
  const Index place = Index{draw_ticket(s.counts)} * kRows + threadIdx.x / kTeam;
  const Index i = s.lower ? place : s.rows - 1 - place;  // rows wait for rows of earlier places
  bool known = place >= s.rows;
  std::int64_t e = 0;
  std::int64_t end = 0;
  if (!known) {
    e = s.row_offsets[i] + (s.lower ? 0 : 1) + member;
    end = s.row_offsets[i + 1] - (s.lower ? 1 : 0);
  }
  std::int32_t level = 0;
  for (int turn = 0; !__all_sync(kFullWarp, known); turn = (turn + 1) % kTurns) {
    if (turn == 0 && __any_sync(kFullWarp, too_many.load(::cuda::memory_order_relaxed) != 0)) {
      return;
    }
    if (e < end) {
      const std::int32_t other = SharedNumber<std::int32_t>(s.levels[__ldg(s.columns + e)])
                                     .load(::cuda::memory_order_relaxed);
      if (other >= 0) {
        level = max(level, other + 1);
        e += kTeam;
      }
    }
    const bool waits = (__ballot_sync(kFullWarp, e < end) & mask) != 0;
    if (!known && !waits) {
#pragma unroll
      for (int step = kTeam / 2; step > 0; step /= 2) {
        level = max(level, __shfl_xor_sync(mask, level, step, kTeam));
      }
      if (member == 0) {
        if (level >= s.most) too_many.store(1, ::cuda::memory_order_relaxed);
        SharedNumber<std::int32_t>(s.levels[i]).store(level, ::cuda::memory_order_relaxed);
      }
      known = true;
    }
  }
}

__global__ void number_rows_kernel(Index count, std::int32_t* rows) {
  for (Index i = thread_index(); i < count; i += thread_count()) {
    rows[i] = static_cast<std::int32_t>(i);
  }
}

/// The level of each row. Nothing if there are more than `most`.
template <class T>
std::optional<DeviceIntegers> levels_of_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                             Triangle triangle, Index most) {
  DeviceIntegers levels(context, static_cast<std::size_t>(A.rows));
  Buffer<std::uint32_t, DeviceSpace> counts(context, 2);
  check(cudaMemsetAsync(levels.data(), 0xff, levels.size() * sizeof(std::int32_t),
                        context.stream()));  // -1
  check(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(std::uint32_t), context.stream()));
  const LevelSearch search{A.rows, A.row_offsets, A.columns,    triangle == Triangle::lower,
                           most,   levels.data(), counts.data()};
  const Index mean = (A.nnz - A.rows) / A.rows;
  dispatch_at_least<1, 4, 8>(static_cast<int>(mean / kEntriesPerThread), [&]<int kTeam>() {
    levels_kernel<kTeam>
        <<<blocks_for(A.rows, kThreads / kTeam), kThreads, 0, context.stream()>>>(search);
    check_launch();
  });
  std::uint32_t too_many = 0;
  context.copy_to_host(&too_many, counts.data() + 1, sizeof too_many);
  if (too_many != 0) return std::nullopt;
  return levels;
}

}  // namespace

template <Scalar T>
std::optional<RowLevels> row_levels(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                    Triangle triangle) {
  if (A.rows == 0) return RowLevels{{}, {0}};
  const Index most = most_levels(A.nnz);
  std::optional<DeviceIntegers> levels = levels_of_rows(context, A, triangle, most);
  if (!levels) return std::nullopt;
  RowLevels result{DeviceIntegers(context, levels->size()), {}};
  number_rows_kernel<<<grid_for(context, A.rows), kThreads, 0, context.stream()>>>(
      A.rows, result.rows.data());
  check_launch();
  sort_pairs(context, most, *levels, result.rows);
  std::int32_t last = 0;
  context.copy_to_host(&last, levels->data() + levels->size() - 1, sizeof last);
  result.level_begins.resize(static_cast<std::size_t>(last) + 2);
  Buffer<Index, DeviceSpace> begins(context, result.level_begins.size());
  group_begins(context, *levels, Index{last} + 1, begins.data());
  context.copy_to_host(result.level_begins.data(), begins.data(), begins.size() * sizeof(Index));
  return result;
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template std::optional<RowLevels> row_levels(CudaContext&, const CsrView<T, DeviceSpace>&, \
                                               Triangle);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
