#include "missed_pairs/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::lab {
namespace {

/// A value that is off by less, relative to itself or to its bound, is not the value of another
/// pair.
constexpr double kNear = 1e-4;
constexpr double kBounds = 10;

/// The values of the modes, moved by `side` times their errors, in order from the wanted end.
std::vector<double> moved(const Case& given, double side) {
  std::vector<double> values;
  for (const Mode& mode : given.modes) values.push_back(mode.value + side * mode.error);
  std::sort(values.begin(), values.end());
  if (given.request.which == Which::largest) std::reverse(values.begin(), values.end());
  return values;
}

}  // namespace

Verdict judge(const Case& given, const Solution& solution) {
  if (solution.status != SolveStatus::converged) return Verdict::unsolved;
  const std::vector<double> low = moved(given, -1), high = moved(given, 1);
  Verdict verdict = Verdict::right;
  for (std::size_t k = 0; k < solution.eigenvalues.size(); ++k) {
    const double value = solution.eigenvalues[k];
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(value);
    const double bound = solution.error_bounds.at(k) + rounding;
    const double above = value - high[k], below = low[k] - value;
    if (!(std::max(above, below) > bound)) continue;
    const double too_far = given.request.which == Which::smallest ? above : below;
    if (too_far > kNear * std::abs(value) + kBounds * bound) {
      return solution.completeness.proven ? Verdict::proven_missing : Verdict::missing;
    }
    verdict = Verdict::beyond_bound;
  }
  return verdict;
}

}  // namespace heddle::lab
