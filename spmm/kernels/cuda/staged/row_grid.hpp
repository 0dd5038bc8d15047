#pragma once

#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle::detail::cuda {

/// Row i of the matrix is the point (c₀, c₁, …) of a grid, i = Σ c_d·stride_d with c_d below
/// stride_{d+1}/stride_d, where stride₀ = 1. A block of rows is a box of points.
struct RowGrid {
  static constexpr int kMostDimensions = 4;

  int dimensions = 1;
  std::int32_t strides[kMostDimensions] = {1, 1, 1, 1};  ///< ascending
  std::int32_t points[kMostDimensions] = {1, 1, 1, 1};   ///< extent of the grid
  std::int32_t boxes[kMostDimensions] = {1, 1, 1, 1};    ///< the number of boxes in each direction

  /// The index of the box that row `row` belongs to. Boxes of one direction differ by at most one
  /// point in their extent.
  constexpr std::int32_t box_of(std::int32_t row) const noexcept {
    std::int32_t box = 0;
    for (int d = dimensions - 1; d >= 0; --d) {
      const std::int32_t point = row / strides[d];
      row -= point * strides[d];
      box = box * boxes[d] +
            static_cast<std::int32_t>(static_cast<std::int64_t>(point) * boxes[d] / points[d]);
    }
    return box;
  }
  constexpr std::int32_t count() const noexcept {
    std::int32_t all = 1;
    for (int d = 0; d < dimensions; ++d) all *= boxes[d];
    return all;
  }
};

/// The grid of a matrix with `rows` rows in which the entries (i, i + offset) of `offsets` are
/// frequent, with boxes of at most `most_rows` points that need the fewest distinct columns.
/// `counts` are the frequencies of the offsets, which are ascending. Any offsets give a valid grid.
/// Without several groups of offsets, the boxes are stretches of neighbouring rows.
RowGrid grid_of_offsets(Index rows, const std::vector<std::int32_t>& offsets,
                        const std::vector<Index>& counts, Index most_rows);

}  // namespace heddle::detail::cuda
