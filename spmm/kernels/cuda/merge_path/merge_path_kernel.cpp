#include <heddle/spmm/kernels/cuda/merge/merge_plan.hpp>
#include <heddle/spmm/kernels/cuda/merge_path/merge_path_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

template <class T, class V>
using Plan = MergePlan<T, V, PathMeasure::rows_and_nonzeros>;

}  // namespace

KernelMakers<DeviceSpace> MergePathKernel::makers() {
  return makers_by_values<MergePathKernel, Plan>();
}

}  // namespace heddle::detail::cuda
