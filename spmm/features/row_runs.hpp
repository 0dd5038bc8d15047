#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Rows at which `MatrixFeatures::rows_within_128` begins to count lie this far apart.
inline constexpr Index kRunStride = 16;

/// The number of rows from `row` on that have at most 128 entries together.
constexpr Index rows_within_128(const std::int64_t* row_offsets, Index rows, Index row) noexcept {
  constexpr Index kEntries = 128;
  const Index most = row_offsets[row] + kEntries;
  Index step = 1;
  while (row + step <= rows && row_offsets[row + step] <= most) step *= 2;
  Index within = row + step / 2;  // the largest row known to end within the entries, or `row`
  if (step == 1) return 0;
  for (step /= 2; step > 0; step /= 2) {
    if (within + step <= rows && row_offsets[within + step] <= most) within += step;
  }
  return within - row;
}

}  // namespace heddle::detail
