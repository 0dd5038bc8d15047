#pragma once

#include <algorithm>
#include <heddle/linalg/context/context.hpp>

namespace heddle::gallery {

/// Cells first … last along one axis of a mesh; none if first > last.
struct CellRange {
  Index first;
  Index last;

  bool empty() const noexcept { return first > last; }
};

/// The cells that contain both node p and node q, on an axis of `cells` cells. Cell c spans the
/// nodes steps·c … steps·(c + 1).
inline CellRange shared_cells(Index p, Index q, Index steps, Index cells) noexcept {
  const Index low = std::min(p, q);
  const Index high = std::max(p, q);
  return {std::max<Index>((high + steps - 1) / steps - 1, 0), std::min(low / steps, cells - 1)};
}

}  // namespace heddle::gallery
