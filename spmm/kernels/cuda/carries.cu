#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/carries.hpp>
#include <heddle/spmm/kernels/cuda/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;

/// Each thread adds one column of the carries of one row, if the row's first carry belongs to its
/// team.
template <class T>
__global__ __launch_bounds__(kThreads) void add_carries_kernel(SpmmProduct<T> p,
                                                               const PathPoint* points,
                                                               Index stretches_total,
                                                               Index stretches, Index teams,
                                                               const T* carries) {
  wait_for_first_pass();
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index team = i / p.N;
  if (team >= teams) return;
  const auto end_of = [&](Index t) { return points[min((t + 1) * stretches, stretches_total)]; };
  const PathPoint end = end_of(team);
  if (end.row >= p.A.rows || end.nonzero == p.A.row_offsets[end.row]) return;
  if (team > 0) {
    const PathPoint before = end_of(team - 1);
    if (before.row == end.row && before.nonzero > p.A.row_offsets[end.row]) return;
  }
  const Index column = i % p.N;
  T sum = 0;
  for (Index t = team; t < teams && end_of(t).row == end.row; ++t) sum += carries[t * p.N + column];
  add_later(p, end.row, column, sum);
}

}  // namespace

template <class T>
void launch_add_carries(CudaContext& context, const SpmmProduct<T>& product, const MergePath& path,
                        Index stretches, const T* carries) {
  const Index teams = (path.stretches() + stretches - 1) / stretches;
  if (teams < 2) return;
  launch_second_pass(add_carries_kernel<T>, blocks_for(teams * product.N, kThreads), kThreads,
                     context.stream(), product, path.points(), path.stretches(), stretches, teams,
                     carries);
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template void launch_add_carries(CudaContext&, const SpmmProduct<T>&, const MergePath&, Index, \
                                   const T*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
