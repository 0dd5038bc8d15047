#pragma once

#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/kernels/cuda/merge/launch_merge.hpp>

namespace heddle::detail::cuda {

/// Products by `launch_merge`, the path cut by `kMeasure`.
template <class T, class V, PathMeasure kMeasure>
class MergePlan : public KernelPlan<T, DeviceSpace> {
 public:
  MergePlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : values_(context, matrix), path_(shared_merge_path(context, matrix, kMeasure)) {}

  void prepare(CudaContext& context, Index N) override {
    grow(context, carries_, merge_carries<T>(*path_, N));
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_merge(context, product, values_, *path_, carries_.data());
  }

 private:
  StoredValues<T, V> values_;
  std::shared_ptr<const MergePath> path_;
  Buffer<T, DeviceSpace> carries_;
};

}  // namespace heddle::detail::cuda
