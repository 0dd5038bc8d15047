#pragma once

#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle::detail {

/// The rows of a matrix as points of a grid. Row i is the point (c₀, c₁, …) with i = Σ c_d·stride_d
/// and c_d < stride_{d+1}/stride_d, where stride₀ = 1. The grid is divided into bricks of equal
/// extents, from point 0 on, and bricks are collected in boxes. The rows of a brick share the most
/// columns, and those of a box more than other rows. Boxes of one direction differ by at most one
/// brick in their extent.
struct RowGrid {
  static constexpr int kMostDimensions = 4;

  Index rows = 0;
  int dimensions = 1;
  std::int32_t strides[kMostDimensions] = {1, 1, 1, 1};  ///< ascending
  std::int32_t points[kMostDimensions] = {1, 1, 1, 1};   ///< extent of the grid
  std::int32_t boxes[kMostDimensions] = {1, 1, 1, 1};    ///< the number of boxes in each direction
  std::int32_t brick[kMostDimensions] = {1, 1, 1, 1};    ///< extent of a brick in points

  /// The number of boxes. Some may have no rows.
  constexpr std::int32_t count() const noexcept {
    std::int32_t all = 1;
    for (int d = 0; d < dimensions; ++d) all *= boxes[d];
    return all;
  }

  /// The number of bricks of the largest box.
  constexpr std::int32_t most_bricks() const noexcept {
    std::int32_t all = 1;
    for (int d = 0; d < dimensions; ++d) all *= most_bricks(d);
    return all;
  }

  /// The index of the box that row `row` belongs to.
  constexpr std::int32_t box_of(std::int32_t row) const noexcept { return place_of(row).box; }

  /// The index of the row's brick in its box, below `most_bricks()`.
  constexpr std::int32_t brick_of(std::int32_t row) const noexcept { return place_of(row).brick; }

  /// The k-th row of a box for k below its number of points, −1 where a point has no row or k is
  /// too large.
  constexpr std::int32_t row_of(std::int32_t box, std::int32_t k) const noexcept {
    std::int64_t row = 0;
    std::int32_t of = box;
    for (int d = 0; d < dimensions; ++d) {
      const std::int32_t at = of % boxes[d];
      of /= boxes[d];
      const std::int32_t first = first_point(d, at);
      const std::int32_t extent = first_point(d, at + 1) - first;
      row += static_cast<std::int64_t>(first + k % extent) * strides[d];
      k /= extent;
    }
    if (k > 0 || row >= rows) return -1;
    const auto found = static_cast<std::int32_t>(row);
    return box_of(found) == box ? found : -1;
  }

 private:
  struct Place {
    std::int32_t box;
    std::int32_t brick;
  };

  constexpr Place place_of(std::int32_t row) const noexcept {
    Place place = {0, 0};
    for (int d = dimensions - 1; d >= 0; --d) {
      const std::int32_t point = row / strides[d];
      row -= point * strides[d];
      const std::int32_t own_brick = point / brick[d];
      const auto own_box =
          static_cast<std::int32_t>(static_cast<std::int64_t>(own_brick) * boxes[d] / bricks(d));
      place.box = place.box * boxes[d] + own_box;
      place.brick = place.brick * most_bricks(d) + own_brick - first_brick(d, own_box);
    }
    return place;
  }
  constexpr std::int32_t first_point(int d, std::int32_t box) const noexcept {
    const std::int64_t point = std::int64_t{first_brick(d, box)} * brick[d];
    return point < points[d] ? static_cast<std::int32_t>(point) : points[d];
  }
  constexpr std::int32_t bricks(int d) const noexcept { return (points[d] - 1) / brick[d] + 1; }
  constexpr std::int32_t most_bricks(int d) const noexcept {
    return (bricks(d) + boxes[d] - 1) / boxes[d];
  }
  constexpr std::int32_t first_brick(int d, std::int32_t box) const noexcept {
    return static_cast<std::int32_t>((static_cast<std::int64_t>(box) * bricks(d) + boxes[d] - 1) /
                                     boxes[d]);
  }
};

/// The grid of a matrix, as far as a sample of its rows shows it.
struct RowSample {
  static constexpr Index kMost = 1024;              ///< rows
  static constexpr std::int32_t kLongest = 128;     ///< longer rows are left out
  static constexpr std::int32_t kNone = INT32_MAX;  ///< in place of an offset

  /// An offset of fewer of the sampled rows than this is not frequent: three tenths.
  static constexpr Index least_frequency(Index samples) noexcept { return (3 * samples + 9) / 10; }

  /// The most offsets that can be frequent.
  static constexpr Index kMostFrequent = 10 * kLongest / 3 + 1;

  /// The member of a set of `size` that belongs to sample `sample` of `samples` ≤ size: one at a
  /// pseudo-random place of each of `samples` equal stretches.
  static constexpr Index place(Index sample, Index samples, Index size) noexcept {
    const Index first = size * sample / samples;
    const Index stretch = size * (sample + 1) / samples - first;
    const auto bits = static_cast<std::uint32_t>(sample) * 2654435769u;
    return first + static_cast<Index>(bits >> 8) % stretch;
  }
};

/// The grid of a matrix with `rows` rows in which the entries (i, i + offset) of the ascending
/// `offsets` are frequent, with boxes of at most `most_rows` points that need the fewest distinct
/// columns. `counts` are the frequencies of the offsets. Any offsets give a valid grid. Without
/// several groups of offsets, the boxes are stretches of neighbouring rows. Bricks have at most
/// `brick_rows` points, a power of two, and likewise need the fewest distinct columns among those
/// with at least two points in each direction, or in as many as `brick_rows` allows.
RowGrid grid_of_offsets(Index rows, const std::vector<std::int32_t>& offsets,
                        const std::vector<Index>& counts, Index most_rows, Index brick_rows = 1);

/// The number of rows in the boxes of `MatrixFeatures::reuse_grid`.
inline constexpr Index kReuseGridRows = 64;
/// The number of boxes that it is computed from, if there are more.
inline constexpr Index kReuseGridBoxes = 512;

/// `MatrixFeatures::reuse_grid` of a matrix in host memory.
double grid_reuse(Index rows, const std::int64_t* row_offsets, const std::int32_t* columns);

}  // namespace heddle::detail
