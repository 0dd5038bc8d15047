#include <algorithm>
#include <cmath>
#include <heddle/solvers/lobpcg/guard_evidence.hpp>
#include <numeric>
#include <utility>

namespace heddle::detail {
namespace {

/// The largest part of a missing pair that may be left in a guard vector which shows that no better
/// pair is missing, where guesses may lack it.
constexpr double kLargestPart = 0.01;

/// Where X began with random vectors, an eigenvalue that is none of the wanted ones must be nearest
/// to the guard vector. One whose residual is at most this share of its value is passed over.
constexpr double kLargestPartOfRandom = 1;
constexpr double kNearlyConverged = 0.01;

}  // namespace

Index GuardEvidence::tested(const GuardVectors& guards, bool guessed) noexcept {
  const Index count = std::ssize(guards.theta);
  return guessed ? count : std::min<Index>(1, count);
}

bool GuardEvidence::shows_all(const GuardVectors& guards, bool guessed) const {
  if (done_) return true;
  if (guards.theta.empty()) return !guessed;
  const Index at_rest = guessed || !guards.locked.empty() ? tested(guards, guessed) : 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(at_rest); ++j) {
    const double scaled = convergence_.scaled_residual(guards.theta[j], guards.residuals[j]);
    if (!(scaled <= std::sqrt(tolerance_))) return false;
  }
  return next_is_apart(guards, guessed);
}

/// Whether a guard vector holds only a part of a pair that is better than the wanted ones:
/// such a part is at most its residual divided by the distance of its value from the wanted ones. A
/// guard vector that has converged may be a further copy of a wanted pair or another guess, which
/// shows nothing. True if all have.
bool GuardEvidence::next_is_apart(const GuardVectors& guards, bool guessed) const {
  const double part = guessed ? kLargestPart : kLargestPartOfRandom;
  for (std::size_t j = 0; j < guards.theta.size(); ++j) {
    if (has_converged(guards, j)) continue;
    const double nearly = kNearlyConverged * std::abs(guards.theta[j]) * convergence_.norm_B();
    if (!guessed && guards.residuals[j] <= nearly) continue;
    double distance = std::numeric_limits<double>::infinity();
    for (const auto& values : {guards.wanted, guards.locked}) {
      for (const double value : values) {
        distance = std::min(distance, std::abs(guards.theta[j] - value));
      }
    }
    return guards.dual_residuals[j] <= part * distance;
  }
  return true;
}

/// Whether the residual of a guard vector is small relative to its value. The vector may be a guess
/// in a stiff problem, whose residual is rounding, so that half of the digits are enough.
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
