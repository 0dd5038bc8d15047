#include <algorithm>
#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/row_parallel/row_parallel_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_split/launch_row_split.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>
#include <map>

namespace heddle::detail::cuda {
namespace {

constexpr Index kMostLanes = 32;  // a warp

template <class T, class V>
class RowParallelPlan : public KernelPlan<T, DeviceSpace> {
 public:
  RowParallelPlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : A_(matrix.A),
        values_(context, matrix),
        features_(matrix.features),
        groups_(row_groups(features_)) {}

  void prepare(CudaContext& context, Index N) override {
    for (Index width = 1;; width *= 2) {
      const Index columns = std::min(width, N);
      if (const LongRows* rows = long_rows(context, columns)) {
        grow(context, parts_, rows->parts() * part_pitch<T>(columns));
      }
      if (width >= N) break;
    }
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    const LongRows* const rows = long_rows(context, product.N);
    if (rows == nullptr) {
      return launch_row_split(context, values_.in(product), groups_, kMostLanes);
    }
    const RowParts<T> parts = {parts_.data(), part_pitch<T>(product.N)};
    launch_row_split(context, values_.in(product), groups_, kMostLanes, rows->view(parts));
    launch_add_parts(context, product, rows->split_rows(), parts);
  }

 private:
  /// The rows that take too long for the lane groups of other rows at this width. Null if there are
  /// none.
  const LongRows* long_rows(CudaContext& context, Index N) {
    const LongRowShape shape = long_row_shape(features_, N, sizeof(T));
    if (features_.row_max <= shape.limit) return nullptr;
    return &long_rows_.try_emplace(shape.length, context, A_, shape.limit, shape.length)
                .first->second;
  }

  CsrView<T, DeviceSpace> A_;
  StoredValues<T, V> values_;
  MatrixFeatures features_;
  int groups_;
  std::map<Index, LongRows> long_rows_;  ///< by the length of segments
  Buffer<T, DeviceSpace> parts_;
};

}  // namespace

KernelMakers<DeviceSpace> RowParallelKernel::makers() {
  return makers_by_values<RowParallelKernel, RowParallelPlan>();
}

}  // namespace heddle::detail::cuda
