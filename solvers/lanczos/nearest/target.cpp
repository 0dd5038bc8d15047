#include <algorithm>
#include <heddle/solvers/lanczos/nearest/target.hpp>
#include <numeric>

namespace heddle::detail {
namespace {

/// The distance from σ of the ends of a count: in the gap beyond the last of the `distances`, or,
/// if that is narrower than `least`, in the widest gap up to the distance `alike` before it.
/// Negative if there is none.
double radius_in_gap(const std::vector<double>& distances, double next, double least, double alike,
                     double part) {
  const double last = distances.back();
  if (next - last > least) {
    return last + part * (std::isfinite(next) ? next - last : std::max(last, least));
  }
  double widest = 0;
  double radius = -1;
  double farther = last;
  for (std::size_t k = distances.size(); k-- > 0 && farther >= last - alike;) {
    const double nearer = k > 0 ? distances[k - 1] : 0;
    const double gap = std::min(distances[k] - nearer, alike);
    if (gap > widest) {
      widest = gap;
      radius = distances[k] - (1 - part) * gap;
    }
    farther = nearer;
  }
  return radius;
}

}  // namespace

std::vector<std::size_t> nearest_places(const Target& target, std::span<const double> values) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (target.has(values[i])) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(), [&](std::size_t i, std::size_t j) {
    return target.distance(values[i]) < target.distance(values[j]);
  });
  return places;
}

std::optional<CountedInterval> interval_to_count(const Target& target,
                                                 std::span<const double> found,
                                                 std::span<const double> others, double part,
                                                 double wider) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double next = kNone;                  // from σ, of those within the limits
  double below = kNone, above = kNone;  // of those beyond a limit, from it
  for (const double value : others) {
    if (target.has(value)) {
      next = std::min(next, target.distance(value));
    } else if (value < target.lower) {
      below = std::min(below, target.lower - value);
    } else {
      above = std::min(above, value - target.upper);
    }
  }
  if (found.empty()) return std::nullopt;
  std::vector<double> distances;
  for (const double value : found) distances.push_back(target.distance(value));
  const double least = std::max(target.rounding, target.tolerance * std::abs(found.back()));
  // Pairs beyond a count of a part are found again where the limits are counted.
  const double most = target.counted ? kNone : std::max(least, target.tolerance * distances.back());
  const double radius = radius_in_gap(distances, next, least, std::min(wider * least, most), part);
  if (radius < 0 || distances.back() <= target.rounding) return std::nullopt;
  const auto beyond = [&](double limit, double gap) {
    if (target.counted || (target.free_at_0 && limit == 0)) return 0.0;
    return part * (std::isfinite(gap) ? gap : std::max(radius, target.rounding));
  };
  return CountedInterval{
      std::max(target.sigma - radius, target.lower - beyond(target.lower, below)),
      std::min(target.sigma + radius, target.upper + beyond(target.upper, above))};
}

}  // namespace heddle::detail
