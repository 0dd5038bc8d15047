#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/row_parallel/row_parallel_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_split/launch_row_split.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr Index kMostLanes = 32;  // a warp

template <class T, class V>
class RowParallelPlan : public KernelPlan<T, DeviceSpace> {
 public:
  RowParallelPlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : values_(context, matrix), groups_(row_groups(matrix.features)) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_row_split(context, values_.in(product), groups_, kMostLanes);
  }

 private:
  StoredValues<T, V> values_;
  int groups_;
};

}  // namespace

KernelMakers<DeviceSpace> RowParallelKernel::makers() {
  return makers_by_values<RowParallelPlan>();
}

}  // namespace heddle::detail::cuda
