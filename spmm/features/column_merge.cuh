#pragma once

#include <heddle/linalg/data/views.hpp>
#include <limits>

namespace heddle::detail::cuda {

/// Merges the ascending columns of a panel of `kRows` rows, one lane per row. `next` returns the
/// smallest column that is still unread in any row. All lanes of the warp must take part.
template <int kRows>
class ColumnMerge {
 public:
  static constexpr unsigned kAllLanes = 0xffffffffu;
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();

  /// `row` is the lane's row. A lane without a row passes any value from `rows` on.
  __device__ ColumnMerge(const std::int64_t* row_offsets, const std::int32_t* columns, Index rows,
                         Index row)
      : ColumnMerge(columns, row_offsets[min(row, rows)], row_offsets[min(row + 1, rows)]) {}

  /// The lane has entries begin … end − 1 of A's columns.
  __device__ ColumnMerge(const std::int32_t* columns, Index begin, Index end)
      : columns_(columns), position_(begin), end_(end) {
    read_head();
  }

  /// The smallest unread column, the same in all lanes of the panel. `kNone` at the end.
  __device__ std::int32_t next() const {
    std::int32_t smallest = head_;
#pragma unroll
    for (int step = kRows / 2; step > 0; step /= 2) {
      smallest = min(smallest, __shfl_xor_sync(kAllLanes, smallest, step, kRows));
    }
    return smallest;
  }

  /// Whether this lane's row has an entry in `column`. If so, the entry is marked as read.
  __device__ bool take(std::int32_t column) {
    if (column == kNone || head_ != column) return false;
    ++position_;
    read_head();
    return true;
  }

  /// The position of the first unread entry of this lane's row.
  __device__ Index position() const { return position_; }

 private:
  __device__ void read_head() { head_ = position_ < end_ ? __ldg(columns_ + position_) : kNone; }

  const std::int32_t* columns_;
  Index position_;
  Index end_;
  std::int32_t head_ = kNone;
};

}  // namespace heddle::detail::cuda
