#pragma once

#include <algorithm>
#include <array>
#include <heddle/linalg/context/context.hpp>
#include <vector>

namespace heddle::gallery {

/// A grid of up to three dimensions, points numbered with x fastest.
struct Grid {
  std::array<Index, 3> extent{1, 1, 1};

  explicit Grid(const std::vector<Index>& size) {
    std::copy(size.begin(), size.end(), extent.begin());
  }
  double points() const {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) *
           static_cast<double>(extent[2]);
  }
  std::array<Index, 3> coordinates(Index point) const {
    const Index line = point / extent[0];
    return {point % extent[0], line % extent[1], line / extent[1]};
  }
  /// The difference between the numbers of neighbours along each axis.
  std::array<Index, 3> strides() const { return {1, extent[0], extent[0] * extent[1]}; }
};

}  // namespace heddle::gallery
