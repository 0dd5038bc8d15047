#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/carries.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>

namespace heddle::detail::cuda {
namespace {

constexpr int kWarps = kThreads / kWarpSize;

/// A warp adds the carries of one row, if the row's first carry belongs to its team. Its lanes are
/// `kLanes` columns of several teams at a time, which they add in an order that does not vary.
template <int kLanes, class T>
__global__ __launch_bounds__(kThreads) void add_carries_kernel(SpmmProduct<T> p,
                                                               const PathPoint* points,
                                                               Index stretches_total,
                                                               Index stretches, Index teams,
                                                               const T* carries) {
  wait_for_previous_kernel();
  const Index team = static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (team >= teams) return;
  const auto end_of = [&](Index t) { return points[min((t + 1) * stretches, stretches_total)]; };
  const PathPoint end = end_of(team);
  if (end.row >= p.A.rows || end.nonzero == p.A.row_offsets[end.row]) return;
  if (team > 0) {
    const PathPoint before = end_of(team - 1);
    if (before.row == end.row && before.nonzero > p.A.row_offsets[end.row]) return;
  }
  const int lane = threadIdx.x % kWarpSize;
  Index last = team + 1;  // behind the last team with a carry of the row
  for (unsigned same = kFullWarp; same == kFullWarp; last += __popc(same)) {
    same = __ballot_sync(kFullWarp, last + lane < teams && end_of(last + lane).row == end.row);
  }
  constexpr int kGroups = kWarpSize / kLanes;
  for (Index first = 0; first < p.N; first += kLanes) {
    const Index column = first + lane % kLanes;
    Lane<T, 1> sum;
    if (column < p.N) {
#pragma unroll 4
      for (Index t = team + lane / kLanes; t < last; t += kGroups) {
        add(load<1>(carries + t * p.N + column), sum);
      }
    }
#pragma unroll
    for (int step = kGroups / 2; step > 0; step /= 2) add_from_lane(step * kLanes, kWarpSize, sum);
    if (lane < kLanes && column < p.N) add_later(p, end.row, column, sum[0]);
  }
}

}  // namespace

template <class T>
void launch_add_carries(CudaContext& context, const SpmmProduct<T>& product, const MergePath& path,
                        Index stretches, const T* carries) {
  const Index teams = (path.stretches() + stretches - 1) / stretches;
  if (teams < 2) return;
  dispatch_at_least<1, 4, 16, kWarpSize>(
      static_cast<int>(std::min<Index>(product.N, kWarpSize)), [&]<int kLanes>() {
        launch_dependent(add_carries_kernel<kLanes, T>, {blocks_for(teams, kWarps), kThreads},
                         context.stream(), product, path.points(), path.stretches(), stretches,
                         teams, carries);
      });
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template void launch_add_carries(CudaContext&, const SpmmProduct<T>&, const MergePath&, Index, \
                                   const T*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
