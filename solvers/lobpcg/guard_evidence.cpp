#include <algorithm>
#include <cmath>
#include <heddle/solvers/lobpcg/guard_evidence.hpp>
#include <numeric>
#include <utility>

namespace heddle::detail {
namespace {

/// The largest part of a missing pair that may be left in a guard vector which shows that no better
/// pair is missing.
constexpr double kLargestPart = 0.01;

}  // namespace

Index GuardEvidence::tested(const GuardVectors& guards, bool guessed) noexcept {
  const Index count = std::ssize(guards.theta);
  if (guessed) return count;
  return guards.locked.empty() ? 0 : std::min<Index>(1, count);
}

bool GuardEvidence::shows_all(const GuardVectors& guards, bool guessed) const {
  if (done_) return true;
  for (std::size_t j = 0; j < static_cast<std::size_t>(tested(guards, guessed)); ++j) {
    const double scaled = convergence_.scaled(guards.theta[j], guards.residuals[j]);
    if (!(scaled <= std::sqrt(tolerance_))) return false;
  }
  return !guessed || next_is_apart(guards);
}

/// Whether a guard vector holds at most kLargestPart of a pair that is better than the wanted ones:
/// such a part is at most its residual divided by the distance of its value from the wanted ones. A
/// guard vector that has converged may be a further copy of a wanted pair or another guess, which
/// shows nothing. True if all have. Without guard vectors nothing is shown.
bool GuardEvidence::next_is_apart(const GuardVectors& guards) const {
  if (guards.theta.empty()) return false;
  for (std::size_t j = 0; j < guards.theta.size(); ++j) {
    if (has_converged(guards, j)) continue;
    double distance = std::numeric_limits<double>::infinity();
    for (const auto& values : {guards.wanted, guards.locked}) {
      for (const double value : values) {
        distance = std::min(distance, std::abs(guards.theta[j] - value));
      }
    }
    return guards.dual_residuals[j] <= kLargestPart * distance;
  }
  return true;
}

/// Whether the residual of a guard vector is small beside its value. The vector may be a guess in a
/// stiff problem, whose residual is rounding, so that half of the digits are enough.
bool GuardEvidence::has_converged(const GuardVectors& guards, std::size_t j) const {
  const double theta = guards.theta[j];
  const double digits = std::sqrt(tolerance_) * std::abs(theta);
  const double small = std::min(convergence_.allowed(theta), digits * convergence_.norm_B());
  return guards.residuals[j] <= small || convergence_.is_zero(theta, guards.residuals[j]);
}

bool GuardEvidence::show_nothing(const GuardVectors& guards) const {
  if (done_ || guards.theta.empty()) return false;
  for (std::size_t j = 0; j < guards.theta.size(); ++j) {
    if (!has_converged(guards, j)) return false;
  }
  return true;
}

void GuardEvidence::note_stagnation(const GuardVectors& guards) {
  // Where ‖A‖ is far above the wanted values, residuals seem to be rounding while values still
  // fall.
  const double sum = std::accumulate(guards.theta.begin(), guards.theta.end(), 0.0);
  const double moved = std::abs(sum - std::exchange(sum_, sum));
  done_ =
      moved <= tolerance_ * std::abs(sum) || (convergence_.is_zero(sum, 0) && std::isfinite(moved));
}

}  // namespace heddle::detail
