#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/gallery/rows.hpp>
#include <heddle/linalg/gallery/structures.hpp>
#include <numbers>
#include <vector>

namespace heddle::gallery {
namespace {

struct Point {
  double x;
  double y;
};

Point random_point(std::uint64_t seed, Index number) {
  const PhiloxBlock bits = random_block(seed, 0, static_cast<std::uint64_t>(number));
  return {unit_uniform(bits.words[0], bits.words[1]), unit_uniform(bits.words[2], bits.words[3])};
}

/// The probability that the distance of two random points of the unit square is at most r ≤ 1.
/// Source: Philip, The probability distribution of the distance between two random points in a box,
/// 2007.
double probability_within(double r) { return r * r * (std::numbers::pi - r * (8.0 / 3 - r / 2)); }

/// The radius within which the other points lie with this probability.
double radius_of(double probability) {
  double low = 0;
  double high = 1;
  for (double r = 0.5; low < r && r < high; r = (low + high) / 2) {
    (probability_within(r) < probability ? low : high) = r;
  }
  return high;
}

/// Random points in the unit square, sorted into side×side square buckets whose width is at least
/// the radius. The neighbours of a point therefore lie in its own bucket and the eight around it.
class BucketedPoints {
 public:
  BucketedPoints(HostContext& context, Index n, double radius, std::uint64_t seed)
      : side_(std::clamp(static_cast<Index>(1 / radius), Index{1},
                         static_cast<Index>(std::sqrt(static_cast<double>(n))))),
        square_(radius * radius),
        starts_(static_cast<std::size_t>(side_ * side_) + 1),
        points_(context, static_cast<std::size_t>(n)) {
    for (Index k = 0; k < n; ++k) ++starts_[bucket(random_point(seed, k)) + 1];
    for (std::size_t b = 1; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
    std::vector<Index> next(starts_.begin(), starts_.end() - 1);
    for (Index k = 0; k < n; ++k) {
      const Point point = random_point(seed, k);
      points_[static_cast<std::size_t>(next[bucket(point)]++)] = point;
    }
  }

  /// Calls visit(j) for the points j ≠ i within the radius of point i, ascending.
  template <class Visit>
  void for_each_neighbour(Index i, const Visit& visit) const {
    const Point& centre = at(i);
    const Index x = cell(centre.x);
    const Index y = cell(centre.y);
    const Index left = std::max<Index>(x - 1, 0);
    const Index right = std::min<Index>(x + 1, side_ - 1);
    for (Index row = std::max<Index>(y - 1, 0); row <= std::min<Index>(y + 1, side_ - 1); ++row) {
      const Index end = starts_[static_cast<std::size_t>(row * side_ + right + 1)];
      for (Index j = starts_[static_cast<std::size_t>(row * side_ + left)]; j < end; ++j) {
        const double dx = at(j).x - centre.x;
        const double dy = at(j).y - centre.y;
        if (j != i && dx * dx + dy * dy <= square_) visit(j);
      }
    }
  }

 private:
  Index cell(double coordinate) const {
    return static_cast<Index>(coordinate * static_cast<double>(side_));
  }
  std::size_t bucket(const Point& point) const {
    return static_cast<std::size_t>(cell(point.y) * side_ + cell(point.x));
  }
  const Point& at(Index i) const { return points_[static_cast<std::size_t>(i)]; }

  Index side_;
  double square_;
  std::vector<Index> starts_;  // first point of each bucket, and the end
  Buffer<Point, HostSpace> points_;
};

}  // namespace

/// The graph of random points in the unit square, numbered bucket by bucket. Two points are joined
/// with weight 1 if their distance is at most the radius that gives the expected degree `density`.
template <Scalar T>
HostCsrMatrix<T> random_geometric(HostContext& context, const GallerySpec& spec,
                                  const RowWindow& window) {
  const Index n = checked_rows(spec, static_cast<double>(spec.size[0]));
  const auto others = static_cast<double>(n - 1);
  check_density(spec, others * probability_within(1), "neighbours at radius 1");
  const BucketedPoints points(context, n, radius_of(spec.density / others), spec.seed);
  return csr_by_rows<T>(context, window.of(n), n, [&points](Index i, auto&& emit) {
    points.for_each_neighbour(i, [&emit](Index j) { emit(j, 1); });
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> random_geometric(HostContext&, const GallerySpec&, const RowWindow&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::gallery
