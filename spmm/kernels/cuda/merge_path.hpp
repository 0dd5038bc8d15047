#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/kernel_plan.hpp>

namespace heddle::detail::cuda {

/// A point on the merge path, which passes the rows and nonzeros of a matrix in order.
struct PathPoint {
  Index row;  ///< rows 0 … row − 1 are finished
  Index
      nonzero;  ///< nonzeros 0 … nonzero − 1 are consumed, and the last of them may belong to `row`
};

/// The quantity of which all stretches of a path hold equally many.
enum class PathMeasure {
  nonzeros,           ///< nonzeros only (nonzero split)
  rows_and_nonzeros,  ///< finished rows plus nonzeros, which stays balanced with many empty rows
};

/// The merge path of one matrix, cut into equal stretches by points 0 … stretches() from (0, 0) to
/// (rows, nnz). It depends only on the row offsets, so sums are always divided at the same places.
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

  /// The length of a stretch in the measured quantity. It is smaller for small matrices, so that
  /// there are enough stretches to occupy a device.
  Index step() const noexcept { return step_; }

 private:
  Buffer<PathPoint, DeviceSpace> points_;
  Index stretches_ = 0;
  Index step_ = 0;
};

/// The path with this measure, shared by all kernels of the matrix.
template <class T>
std::shared_ptr<const MergePath> shared_merge_path(CudaContext& context,
                                                   KernelMatrix<T, DeviceSpace>& matrix,
                                                   PathMeasure measure) {
  return matrix.formats.template get<MergePath>(
      static_cast<int>(measure), [&] { return MergePath(context, matrix.A, measure); });
}

}  // namespace heddle::detail::cuda
