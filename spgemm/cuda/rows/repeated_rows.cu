#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/rows/repeated_rows.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

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

/// The number of a row that leads a run, 0 for others. Row 0 leads.
struct LeaderOrZero {
  const unsigned char* repeats;
  __device__ std::int32_t operator()(std::int32_t i) const { return repeats[i] != 0 ? 0 : i; }
};

struct Larger {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a > b ? a : b; }
};

/// Stores the place of row i in the run that `leader` leads. Longer runs than `kMostRowsOfRun` are
/// divided, because the place has 16 bits.
struct StorePlace {
  RunPlace* places;
  __device__ void operator()(std::int32_t i, std::int32_t leader) const {
    places[i] = static_cast<RunPlace>(i - leader);
  }
};

/// Reads counts of rows that lead, which it does not write.
__global__ void spread_kernel(Runs runs, Index* counts) {
  for (Index i = thread_index(); i < runs.rows; i += thread_count()) {
    if (!runs.leads(i)) counts[i] = counts[runs.leader(i)];
  }
}

/// A warp looks at 32 rows, one per lane, and copies those that need it one after the other.
__global__ void copy_kernel(Runs runs, const std::int64_t* row_offsets, std::int32_t* columns) {
  const Index mine = RowTeam<1>::number();
  bool is_copied = mine < runs.rows && !runs.leads(mine);
  if (is_copied) {
    const Index entries = row_offsets[mine + 1] - row_offsets[mine];
    is_copied = !chunk_of(runs, mine).is_computed(entries);
  }
  __syncwarp();
  for (unsigned left = __ballot_sync(kAllLanes, is_copied); left != 0; left &= left - 1) {
    const Index i = mine - lane_index() + __ffs(static_cast<int>(left)) - 1;
    const Index leader = runs.leader(i);
    const Index begin = row_offsets[i];
    const Index length = row_offsets[i + 1] - begin;
    const std::int32_t* source = columns + row_offsets[leader];
    const auto shift = static_cast<std::int32_t>(i - leader);
    for (Index e = lane_index(); e < length; e += kWarp) columns[begin + e] = source[e] + shift;
  }
}

}  // namespace

template <Scalar T>
RunPlaces find_runs(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                    const CsrView<T, DeviceSpace>& B) {
  RunPlaces places(context, static_cast<std::size_t>(A.rows));
  if (A.rows == 0) return places;
  const Flags in_B = find_repeats(context, B, nullptr);
  const Flags in_A = find_repeats(context, A, &in_B);
  const auto leaders = thrust::make_transform_iterator(thrust::counting_iterator<std::int32_t>(0),
                                                       LeaderOrZero{in_A.data()});
  const auto target = thrust::make_tabulate_output_iterator(StorePlace{places.data()});
  const auto scan = [&](void* scratch, std::size_t& bytes) {
    check(cub::DeviceScan::InclusiveScan(scratch, bytes, leaders, target, Larger{}, A.rows,
                                         context.stream()));
  };
  std::size_t bytes = 0;
  scan(nullptr, bytes);
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  scan(scratch.data(), bytes);
  return places;
}

void spread_counts(CudaContext& context, const RunPlaces& places, Index* counts) {
  const Runs runs = runs_of(places);
  spread_kernel<<<grid_for(context, runs.rows), kThreads, 0, context.stream()>>>(runs, counts);
  check_launch();
}

void copy_patterns(CudaContext& context, const RunPlaces& places, const std::int64_t* row_offsets,
                   std::int32_t* columns) {
  const Runs runs = runs_of(places);
  launch_teams<1>(context.stream(), copy_kernel, runs.rows, kThreads, 0, runs, row_offsets,
                  columns);
}

#define HEDDLE_INSTANTIATE(T)                                                \
  template RunPlaces find_runs(CudaContext&, const CsrView<T, DeviceSpace>&, \
                               const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
