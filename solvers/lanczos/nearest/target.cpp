#include <algorithm>
#include <heddle/solvers/lanczos/nearest/target.hpp>
#include <numeric>

namespace heddle::detail {
namespace {

/// Distances from σ that differ by less than this share of the larger one are alike.
constexpr double kAlike = 1e-6;

bool apart(double nearer, double farther) { return farther - nearer > kAlike * farther; }

/// The radius around σ, in a gap of the distances. Negative if there is no gap.
double radius_in_gap(const Target& target, std::span<const double> found, double next,
                     double part) {
  const double last = target.distance(found.back());
  if (apart(last, next)) {
    const double gap = std::isfinite(next) ? next - last : std::max(last, target.noise);
    return last + part * gap;
  }
  double farther = last;
  for (auto each = found.rbegin(); each != found.rend(); ++each) {
    const double nearer = target.distance(*each);
    if (apart(nearer, farther)) return nearer + part * (farther - nearer);
    farther = nearer;
  }
  return farther > target.noise ? part * farther : -1;
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
                                                 std::span<const double> others, double part) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double next = kNone;    // on the wanted side
  double behind = kNone;  // on the other one
  for (const double value : others) {
    double& nearest = target.has(value) ? next : behind;
    nearest = std::min(nearest, target.distance(value));
  }
  if (found.empty()) return std::nullopt;
  const double radius = radius_in_gap(target, found, next, part);
  if (radius < 0) return std::nullopt;
  const double back = part * (std::isfinite(behind) ? behind : std::max(radius, target.noise));
  CountedInterval counted{target.sigma - radius, target.sigma + radius};
  if (target.side == Side::above) counted.lower = target.sigma - back;
  if (target.side == Side::below) counted.upper = target.sigma + back;
  return counted;
}

}  // namespace heddle::detail
