#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/kernels/cuda/split_rows.hpp>

namespace heddle::detail::cuda {

/// The rows of A cut into segments of at most `length` entries, so that none is much longer than
/// the others. Segments are the rows of a matrix with A's entries and more row offsets. Source:
/// Hidayetoglu et al., tiled SpMM, section 4.1 (load balance by segmented sums); Blelloch, Heroux,
/// Zagha 1993.
class RowSegments {
 public:
  /// Cuts the rows on the host, which reads A's offsets. Throws `OutOfMemory`.
  template <class T>
  RowSegments(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index length);

  /// The matrix of the segments, with A's entries.
  template <class T>
  CsrView<T, DeviceSpace> view(const CsrView<T, DeviceSpace>& A) const {
    return {static_cast<Index>(targets_.size()),
            A.cols,
            A.nnz,
            row_offsets_.data(),
            A.columns,
            A.values};
  }

  /// Of each segment: the row of C if it is a whole row, −2 − p if its sum is part p.
  const std::int32_t* targets() const noexcept { return targets_.data(); }
  Index parts() const noexcept { return parts_; }

  const Buffer<SplitRow, DeviceSpace>& split_rows() const noexcept { return split_rows_; }

 private:
  Buffer<std::int64_t, DeviceSpace> row_offsets_;
  Buffer<std::int32_t, DeviceSpace> targets_;
  Buffer<SplitRow, DeviceSpace> split_rows_;
  Index parts_ = 0;
};

}  // namespace heddle::detail::cuda
