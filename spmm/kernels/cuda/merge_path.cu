#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/merge_path.hpp>

namespace heddle::detail::cuda {
namespace {

/// The number of stretches that occupies a large device, and the limits of the step. Shorter
/// stretches leave too many carries, longer ones gain nothing.
constexpr Index kEnoughStretches = 65536;
constexpr Index kShortestStep = 16;
constexpr Index kLongestStep = 128;

/// Point i is `i·step` from the start, after the last row that ends within that distance.
__global__ void find_points_kernel(const std::int64_t* row_offsets, Index rows, Index nnz,
                                   PathMeasure measure, Index step, Index stretches,
                                   PathPoint* points) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i > stretches) return;
  if (i == 0 || i == stretches) {
    points[i] = i == 0 ? PathPoint{0, 0} : PathPoint{rows, nnz};
    return;
  }
  const Index distance = i * step;
  const Index row_cost = measure == PathMeasure::rows_and_nonzeros ? 1 : 0;
  Index low = 0;
  Index high = rows;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (row_offsets[middle + 1] + (middle + 1) * row_cost <= distance) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  points[i] = {low, min(distance - low * row_cost, nnz)};
}

}  // namespace

template <class T>
MergePath::MergePath(CudaContext& context, const CsrView<T, DeviceSpace>& A, PathMeasure measure) {
  const Index length = A.nnz + (measure == PathMeasure::rows_and_nonzeros ? A.rows : 0);
  const auto even = static_cast<std::uint64_t>(length / kEnoughStretches + 1);
  step_ = std::clamp(static_cast<Index>(std::bit_ceil(even)), kShortestStep, kLongestStep);
  stretches_ = std::max<Index>(1, (length + step_ - 1) / step_);
  points_ = Buffer<PathPoint, DeviceSpace>(context, static_cast<std::size_t>(stretches_ + 1));
  find_points_kernel<<<blocks_for(stretches_ + 1, kThreads), kThreads, 0, context.stream()>>>(
      A.row_offsets, A.rows, A.nnz, measure, step_, stretches_, points_.data());
  check_launch();
}

#define HEDDLE_INSTANTIATE(T) \
  template MergePath::MergePath(CudaContext&, const CsrView<T, DeviceSpace>&, PathMeasure);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
