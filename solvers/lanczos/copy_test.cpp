#include <algorithm>
#include <cmath>
#include <heddle/solvers/lanczos/copy_test.hpp>

namespace heddle::detail {

double noise_of_projection(const SpectralMap& map, const PencilNorms& norms, double epsilon,
                           double first) {
  const double theta = map.theta_of(first);
  const bool is_C = !map.inverts() && !map.filters();
  const double norm = is_C ? std::max(norms.C(), std::abs(theta)) : theta;
  return EigenConvergence::kRoundingOfValues * epsilon * norm;
}

bool CopyTest::is_better(double lambda) const {
  for (std::size_t i = locked.values.size(); i-- > 0;) {
    if (!map.before(lambda, locked.values[i])) return false;
    if (!is_copy(lambda, i)) return true;
  }
  return false;
}

bool CopyTest::is_copy(double lambda, std::size_t i) const {
  const double value = locked.values[i];
  if (convergence.is_zero(lambda, 0) && convergence.is_zero(value, 0)) return true;
  const double first = map.before(lambda, value) ? lambda : value;
  const double noise = noise_of_projection(map, norms, epsilon, first);
  const double rounding = std::max(map.value_error(map.theta_of(value), noise), largest_rounding);
  return std::abs(lambda - value) <= locked.errors[i] + rounding;
}

double CopyTest::lacking(const LanczosValues& ritz, Index first, std::size_t i) const {
  while (first < ritz.order() && is_copy(map.lambda_at(ritz.value(first)), i)) ++first;
  if (first == ritz.order()) return 0;
  const double theta = map.theta_of(locked.values[i]);
  const double gap = std::max(0.0, theta - ritz.value(first));
  return map.value_error(theta, ErrorBounds::change(locked.spreads[i], gap)) - locked.errors[i];
}

double CrowdTest::width(std::size_t i, Index least) const {
  const double theta = map.theta_of(wanted.values[i]);
  double first = wanted.values[i];
  double last = first;
  Index members = 0;
  const auto count = [&](double other) {
    if (std::abs(other - theta) > wanted.spreads[i]) return;
    ++members;
    first = std::min(first, map.lambda_at(other));
    last = std::max(last, map.lambda_at(other));
  };
  for (Index j = known; j < locked; ++j) {
    count(map.theta_of(wanted.values[static_cast<std::size_t>(j)]));
  }
  for (Index j = 0; j < ritz.order(); ++j) count(ritz.value(j));
  if (members < least) return 0;
  return std::max(0.0, last - first - 2 * map.value_error(theta, noise));
}

}  // namespace heddle::detail
