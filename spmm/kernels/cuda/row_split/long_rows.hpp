#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/kernels/cuda/split_rows.hpp>
#include <limits>

/// Long rows of A, which row splits would leave to a few threads while all others have ended.
namespace heddle::detail::cuda {

/// A stretch of a long row of A, which a warp adds up.
struct RowSegment {
  std::int64_t begin;  ///< the first entry
  std::int32_t entries;
  std::int32_t target;  ///< the row of C of a row in one segment, −1 − p if the sum is part p
};

/// The part of `LongRows` that a kernel reads. By default no row is long.
template <class T>
struct LongRowsView {
  const RowSegment* segments = nullptr;
  Index count = 0;                              ///< segments
  int limit = std::numeric_limits<int>::max();  ///< rows with more entries are long
  RowParts<T> parts;
};

/// The rows of A with more than `limit` entries, cut into equal segments of at most `length`
/// entries. Source of segmented sums: Blelloch, Heroux, Zagha 1993; of two kinds of rows in one
/// launch: CSR-Adaptive, Greathouse, Daga, SC 2014.
class LongRows {
 public:
  /// Finds the rows on the device, and cuts them on the host. Waits for the device. Throws
  /// `OutOfMemory`.
  template <class T>
  LongRows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index limit, Index length);

  Index parts() const noexcept { return parts_; }
  const Buffer<SplitRow, DeviceSpace>& split_rows() const noexcept { return split_rows_; }

  template <class T>
  LongRowsView<T> view(const RowParts<T>& parts) const {
    return {segments_.data(), static_cast<Index>(segments_.size()), limit_, parts};
  }

 private:
  Buffer<RowSegment, DeviceSpace> segments_;
  Buffer<SplitRow, DeviceSpace> split_rows_;
  Index parts_ = 0;
  int limit_ = 0;
};

}  // namespace heddle::detail::cuda
