#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/kernel_plan.hpp>

namespace heddle::detail::cuda {

/// A place in the walk through a sparse matrix that finishes rows and consumes nonzeros in order.
struct PathPoint {
  Index row;      ///< rows 0 … row − 1 are finished
  Index nonzero;  ///< nonzeros 0 … nonzero − 1 are consumed; the last may belong to `row`
};

/// What all stretches of a walk hold equally many of.
enum class PathMeasure {
  nonzeros,           ///< nonzeros only: the nonzero split
  rows_and_nonzeros,  ///< finished rows and nonzeros together: many empty rows cost no balance
};

/// The walk through one matrix cut into equal stretches: points 0 … stretches(), from (0, 0) to
/// (rows, nnz). Depends on the row offsets alone, so that sums are always cut at the same places.
class MergePath {
 public:
  MergePath() = default;

  /// Finds the points by binary search, on the device. Sources: Yang et al. 2018, section 4.2
  /// (nonzeros); Merrill, Garland, Merge-Based Parallel Sparse Matrix-Vector Multiplication,
  /// SC'16 (rows and nonzeros).
  template <class T>
  MergePath(CudaContext& context, const CsrView<T, DeviceSpace>& A, PathMeasure measure);

  const PathPoint* points() const noexcept { return points_.data(); }
  Index stretches() const noexcept { return stretches_; }

  /// Rows and nonzeros, as measured, in a stretch: fewer for small matrices, so that there are
  /// stretches enough to fill a device.
  Index step() const noexcept { return step_; }

 private:
  Buffer<PathPoint, DeviceSpace> points_;
  Index stretches_ = 0;
  Index step_ = 0;
};

/// The path of this measure that all kernels of the matrix share.
template <class T>
std::shared_ptr<const MergePath> shared_merge_path(CudaContext& context,
                                                   KernelMatrix<T, DeviceSpace>& matrix,
                                                   PathMeasure measure) {
  return matrix.formats.template get<MergePath>(
      static_cast<int>(measure), [&] { return MergePath(context, matrix.A, measure); });
}

}  // namespace heddle::detail::cuda
