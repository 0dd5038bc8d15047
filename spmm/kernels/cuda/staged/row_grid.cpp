#include <algorithm>
#include <array>
#include <cstdlib>
#include <heddle/spmm/kernels/cuda/staged/row_grid.hpp>

namespace heddle::detail::cuda {
namespace {

using Point = std::array<std::int32_t, RowGrid::kMostDimensions>;

/// An offset this many times larger than the one before it belongs to the next direction.
constexpr double kGap = 2.5;

/// The median of each group of similar offsets > 1, weighted by their frequency, after the stride 1
/// of neighbouring rows. A grid's groups are symmetric about the stride, except for offsets of
/// several steps and those across a periodic boundary.
std::vector<std::int32_t> strides_of(const std::vector<std::int32_t>& offsets,
                                     const std::vector<Index>& counts) {
  std::vector<std::int32_t> strides = {1};
  const auto size = offsets.size();
  std::size_t first = 0;
  while (first < size && offsets[first] < 1) ++first;
  std::int32_t before = 1;
  while (first < size && strides.size() < RowGrid::kMostDimensions) {
    std::size_t last = first;
    Index total = 0;
    for (; last < size && (last == first || offsets[last] <= kGap * before); ++last) {
      total += counts[last];
      before = offsets[last];
    }
    std::size_t middle = first;
    Index sum = counts[first];
    while (2 * sum < total) sum += counts[++middle];
    if (offsets[first] > kGap) strides.push_back(offsets[middle]);
    first = last;
  }
  return strides;
}

/// The point of an offset: the nearest multiple of each stride, from the largest on.
Point point_of(std::int32_t offset, const RowGrid& grid) {
  Point point{};
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    const std::int32_t stride = grid.strides[d];
    const std::int32_t half = offset >= 0 ? stride / 2 : -(stride / 2);
    point[static_cast<std::size_t>(d)] = (offset + half) / stride;
    offset -= point[static_cast<std::size_t>(d)] * stride;
  }
  return point;
}

/// Four times the distinct points box + offset, plus the number of their runs along the first
/// direction: short runs of rows waste parts of the memory's sectors.
Index cost_of_box(const Point& box, const std::vector<Point>& offsets) {
  std::vector<Point> points;  // the first direction last, so that runs are neighbours
  Point at{};
  for (at[3] = 0; at[3] < box[3]; ++at[3]) {
    for (at[2] = 0; at[2] < box[2]; ++at[2]) {
      for (at[1] = 0; at[1] < box[1]; ++at[1]) {
        for (at[0] = 0; at[0] < box[0]; ++at[0]) {
          for (const Point& o : offsets) {
            points.push_back({at[3] + o[3], at[2] + o[2], at[1] + o[1], at[0] + o[0]});
          }
        }
      }
    }
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  Index runs = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    Point next = k == 0 ? Point{} : points[k - 1];
    ++next[3];
    if (k == 0 || points[k] != next) ++runs;
  }
  const char* weight = std::getenv("HEDDLE_STAGED_RUNS");
  return 4 * static_cast<Index>(points.size()) + runs * (weight ? std::atol(weight) : 1);
}

}  // namespace

RowGrid grid_of_offsets(Index rows, const std::vector<std::int32_t>& offsets,
                        const std::vector<Index>& counts, Index most_rows) {
  const std::vector<std::int32_t> strides = strides_of(offsets, counts);
  RowGrid grid;
  grid.dimensions = static_cast<int>(strides.size());
  for (std::size_t d = 0; d < strides.size(); ++d) {
    grid.strides[d] = strides[d];
    const Index beyond = d + 1 < strides.size() ? strides[d + 1] : rows;
    grid.points[d] = static_cast<std::int32_t>((beyond + strides[d] - 1) / strides[d]);
  }
  std::vector<Point> points;
  for (const std::int32_t offset : offsets) points.push_back(point_of(offset, grid));
  if (points.empty()) points.push_back({});

  const auto most = static_cast<std::int32_t>(most_rows);
  Point best = {most, 1, 1, 1};
  Index least = -1;
  Point box;
  const auto sizes_end = [&](int d) {  // a box is no longer than the grid, up to a factor of two
    return d < grid.dimensions ? 2 * grid.points[d] : 2;
  };
  for (box[3] = 1; box[3] <= most && box[3] < sizes_end(3); box[3] *= 2) {
    for (box[2] = 1; box[3] * box[2] <= most && box[2] < sizes_end(2); box[2] *= 2) {
      for (box[1] = 1; box[3] * box[2] * box[1] <= most && box[1] < sizes_end(1); box[1] *= 2) {
        box[0] = most / (box[3] * box[2] * box[1]);
        if (grid.dimensions > 1 && box[0] >= sizes_end(0)) continue;
        const Index cost = grid.dimensions > 1 ? cost_of_box(box, points) : 0;
        if (least < 0 || cost < least) {
          least = cost;
          best = box;
        }
      }
    }
  }
  for (int d = 0; d < grid.dimensions; ++d) {
    grid.boxes[d] = (grid.points[d] + best[static_cast<std::size_t>(d)] - 1) /
                    best[static_cast<std::size_t>(d)];
  }
  return grid;
}

}  // namespace heddle::detail::cuda
