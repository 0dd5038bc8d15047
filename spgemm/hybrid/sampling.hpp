#pragma once

#include <algorithm>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spgemm/share.hpp>
#include <vector>

/// Costs of a product from parts of it.
namespace heddle::detail {

/// The multiplications of the rows of A B before each row, and of all rows.
template <class T>
std::vector<Index> work_before_rows(const CsrView<T, HostSpace>& A,
                                    const CsrView<T, HostSpace>& B) {
  std::vector<Index> work(static_cast<std::size_t>(A.rows) + 1, 0);
  for (Index i = 0; i < A.rows; ++i) {
    Index products = work[static_cast<std::size_t>(i)];
    for (Index a = A.row_offsets[i]; a < A.row_offsets[i + 1]; ++a) {
      products += B.row_offsets[A.columns[a] + 1] - B.row_offsets[A.columns[a]];
    }
    work[static_cast<std::size_t>(i) + 1] = products;
  }
  return work;
}

/// A part of the work, 1 for all of it, and its time.
struct TimedPart {
  double work = 0;
  double ms = 0;
};

/// The cost with these two times. Neither its slope nor its latency is negative: where noise would
/// make one so, the larger part decides.
inline SideCost line_through(const TimedPart& large, const TimedPart& small) {
  const double through_zero = large.work > 0 ? large.ms / large.work : 0;
  if (!(large.work > small.work)) return {through_zero, 0};
  const double slope =
      std::clamp((large.ms - small.ms) / (large.work - small.work), 0.0, through_zero);
  return {slope, large.ms - slope * large.work};
}

}  // namespace heddle::detail
