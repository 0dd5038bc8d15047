#include <algorithm>
#include <array>
#include <heddle/spmm/features/row_grid.hpp>

namespace heddle::detail {
namespace {

using Point = std::array<std::int32_t, RowGrid::kMostDimensions>;

/// Offsets that span more points belong to no grid.
constexpr Index kMostPoints = 1 << 16;

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
Point point_of(std::int64_t offset, const RowGrid& grid) {
  Point point{};
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    const std::int64_t stride = grid.strides[d];
    const std::int64_t half = offset >= 0 ? stride / 2 : -(stride / 2);
    const std::int64_t steps = (offset + half) / stride;
    point[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(steps);
    offset -= steps * stride;
  }
  return point;
}

/// Marks on the points that a box and its neighbours in the directions of some offsets cover.
class Coverage {
 public:
  explicit Coverage(const std::vector<Point>& offsets) : offsets_(offsets) {
    for (std::size_t d = 0; d < low_.size(); ++d) {
      const auto by_d = [d](const Point& a, const Point& b) { return a[d] < b[d]; };
      const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end(), by_d);
      low_[d] = (*least)[d];
      const Index span = Index{(*most)[d]} - (*least)[d];
      span_[d] = static_cast<std::int32_t>(std::min(span, kMostPoints));
    }
  }

  /// Whether the offsets are so far apart that no grid explains them.
  bool is_scattered() const {
    Index points = 1;
    for (const std::int32_t span : span_) points = std::min(points * (span + 1), kMostPoints + 1);
    return points > kMostPoints;
  }

  /// Four times the distinct points box + offset, plus the number of their runs along the first
  /// direction: short runs of rows waste parts of the memory's sectors.
  Index cost(const Point& box) {
    Point size{};
    for (std::size_t d = 0; d < size.size(); ++d) size[d] = box[d] + span_[d];
    marks_.assign(static_cast<std::size_t>(Index{size[0]} * size[1] * size[2] * size[3]), 0);
    const auto line = [&](std::int32_t c1, std::int32_t c2, std::int32_t c3) {
      return marks_.begin() + ((Index{c3} * size[2] + c2) * size[1] + c1) * size[0];
    };
    for (const Point& o : offsets_) {
      for (std::int32_t c3 = 0; c3 < box[3]; ++c3) {
        for (std::int32_t c2 = 0; c2 < box[2]; ++c2) {
          for (std::int32_t c1 = 0; c1 < box[1]; ++c1) {
            const auto first = line(c1 + o[1] - low_[1], c2 + o[2] - low_[2], c3 + o[3] - low_[3]) +
                               (o[0] - low_[0]);
            std::fill(first, first + box[0], char{1});
          }
        }
      }
    }
    Index cost = 0;
    for (std::size_t k = 0; k < marks_.size(); ++k) {
      if (marks_[k] == 0) continue;
      const bool begins = k % static_cast<std::size_t>(size[0]) == 0 || marks_[k - 1] == 0;
      cost += begins ? 5 : 4;
    }
    return cost;
  }

 private:
  const std::vector<Point>& offsets_;
  Point low_{};
  Point span_{};
  std::vector<char> marks_;
};

RowGrid grid_with_strides(Index rows, const std::vector<std::int32_t>& strides) {
  RowGrid grid;
  grid.rows = rows;
  grid.dimensions = static_cast<int>(strides.size());
  for (std::size_t d = 0; d < strides.size(); ++d) {
    grid.strides[d] = strides[d];
    const Index beyond = d + 1 < strides.size() ? strides[d + 1] : rows;
    grid.points[d] = static_cast<std::int32_t>((beyond + strides[d] - 1) / strides[d]);
  }
  return grid;
}

/// The box of at most `most` points with the least cost, among those whose extents are multiples of
/// `unit` with powers of two as factors, except for the first extent. None is more than twice that
/// of the grid. Without such a box, the longest one along the first direction.
Point best_box(const RowGrid& grid, std::int32_t most, const Point& unit, Coverage& coverage) {
  const auto longest = [&](const Point& box) {  // the first extent
    return most / (box[3] * box[2] * box[1] * unit[0]) * unit[0];
  };
  Point best = unit;
  best[0] = longest(unit);
  Index least = -1;
  const auto fits = [&](const Point& box, int d) {
    return box[static_cast<std::size_t>(d)] < (d < grid.dimensions ? Index{2} * grid.points[d] : 2);
  };
  Point box;
  for (box[3] = unit[3]; box[3] <= most && fits(box, 3); box[3] *= 2) {
    for (box[2] = unit[2]; box[3] * box[2] <= most && fits(box, 2); box[2] *= 2) {
      for (box[1] = unit[1]; box[3] * box[2] * box[1] <= most && fits(box, 1); box[1] *= 2) {
        box[0] = longest(box);
        if (box[0] == 0 || !fits(box, 0)) continue;
        const Index cost = coverage.cost(box);
        if (least >= 0 && cost >= least) continue;
        least = cost;
        best = box;
      }
    }
  }
  return best;
}

/// The best brick of at most `most` points. With several directions, rows that differ in any of
/// them share its columns, so that the panels of a box need about the same part of its columns.
Point best_brick(const RowGrid& grid, std::int32_t most, Coverage& coverage) {
  Point unit = {1, 1, 1, 1};
  for (int d = 0; d < grid.dimensions && 2 << d <= most; ++d) unit[static_cast<std::size_t>(d)] = 2;
  return best_box(grid, most, unit, coverage);
}

/// The grid by the offsets of all entries of `samples` rows, in any order.
RowGrid grid_of_sample(Index rows, std::vector<std::int32_t> offsets, Index samples) {
  std::sort(offsets.begin(), offsets.end());
  std::vector<std::int32_t> frequent;
  std::vector<Index> counts;
  for (auto first = offsets.begin(); first != offsets.end();) {
    const auto last = std::upper_bound(first, offsets.end(), *first);
    if (last - first >= RowSample::least_frequency(samples)) {
      frequent.push_back(*first);
      counts.push_back(last - first);
    }
    first = last;
  }
  return grid_of_offsets(rows, frequent, counts, kReuseGridRows);
}

}  // namespace

RowGrid grid_of_offsets(Index rows, const std::vector<std::int32_t>& offsets,
                        const std::vector<Index>& counts, Index most_rows, Index brick_rows) {
  RowGrid grid = grid_with_strides(rows, strides_of(offsets, counts));
  std::vector<Point> points;
  for (const std::int32_t offset : offsets) points.push_back(point_of(offset, grid));
  if (points.empty()) points.push_back({});
  Coverage coverage(points);
  if (coverage.is_scattered()) grid = grid_with_strides(rows, {1});
  const auto stretch = [](Index length) {
    return Point{static_cast<std::int32_t>(length), 1, 1, 1};
  };
  Point brick = stretch(brick_rows);
  Point box = stretch(most_rows);
  if (grid.dimensions > 1) {
    brick = best_brick(grid, brick[0], coverage);
    box = best_box(grid, box[0], brick, coverage);
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(grid.dimensions); ++d) {
    grid.brick[d] = brick[d];
    grid.boxes[d] = (grid.points[d] - 1) / box[d] + 1;
  }
  return grid;
}

double grid_reuse(Index rows, const std::int64_t* row_offsets, const std::int32_t* columns) {
  const Index samples = std::min(rows, RowSample::kMost);
  std::vector<std::int32_t> offsets;
  for (Index sample = 0; sample < samples; ++sample) {
    const Index row = RowSample::place(sample, samples, rows);
    if (row_offsets[row + 1] - row_offsets[row] > RowSample::kLongest) continue;
    for (auto k = row_offsets[row]; k < row_offsets[row + 1]; ++k) {
      offsets.push_back(columns[k] - static_cast<std::int32_t>(row));
    }
  }
  const RowGrid grid = grid_of_sample(rows, std::move(offsets), samples);
  const Index boxes = std::min<Index>(grid.count(), kReuseGridBoxes);
  Index entries = 0;
  Index distinct = 0;
  std::vector<std::int32_t> own;
  for (Index sample = 0; sample < boxes; ++sample) {
    const auto box = static_cast<std::int32_t>(RowSample::place(sample, boxes, grid.count()));
    own.clear();
    for (std::int32_t k = 0; k < kReuseGridRows; ++k) {
      const std::int32_t row = grid.row_of(box, k);
      if (row >= 0)
        own.insert(own.end(), columns + row_offsets[row], columns + row_offsets[row + 1]);
    }
    entries += static_cast<Index>(own.size());
    std::sort(own.begin(), own.end());
    distinct += std::unique(own.begin(), own.end()) - own.begin();
  }
  return distinct > 0 ? static_cast<double>(entries) / static_cast<double>(distinct) : 0;
}

}  // namespace heddle::detail
