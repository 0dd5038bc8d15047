#include <algorithm>
#include <cmath>
#include <heddle/solvers/lobpcg/guard_evidence.hpp>
#include <numeric>
#include <utility>

namespace heddle::detail {
namespace {

/// The largest residual of a guard vector, relative to the distance of its value from the wanted
/// ones, with which it shows that no better pair is missing.
constexpr double kApart = 0.01;

}  // namespace

void GuardEvidence::begin(bool exact) noexcept {
  if (!std::exchange(begun_, true)) began_exact_ = exact;
}

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
  return !guessed || !began_exact_ || next_is_apart(guards);
}

/// Whether the residual of a guard vector is small relative to the distance of its value from the
/// wanted ones. A guard vector that has converged may be a further copy of a wanted pair or another
/// guess, which shows nothing. Guard vectors from random columns are no guesses.
bool GuardEvidence::next_is_apart(const GuardVectors& guards) const {
  for (std::size_t j = 0; j < guards.theta.size(); ++j) {
    double distance = std::numeric_limits<double>::infinity();
    for (const auto& values : {guards.wanted, guards.locked}) {
      for (const double value : values) {
        distance = std::min(distance, std::abs(guards.theta[j] - value));
      }
    }
    const bool apart = guards.dual_residuals[j] <= kApart * distance;
    const bool converged = has_converged(guards, j);
    if (apart && (renewed_ || !converged)) return true;
    if (!converged) return false;
  }
  return true;
}

/// Whether the residual of a guard vector is small beside its value. As long as the vector may be a
/// guess in a stiff problem, whose residual is rounding, half of the digits are enough.
bool GuardEvidence::has_converged(const GuardVectors& guards, std::size_t j) const {
  const double theta = guards.theta[j];
  const double digits = (renewed_ ? tolerance_ : std::sqrt(tolerance_)) * std::abs(theta);
  const double small = std::min(convergence_.allowed(theta), digits * convergence_.norm_B());
  return guards.residuals[j] <= small || convergence_.is_zero(theta, guards.residuals[j]);
}

bool GuardEvidence::needs_new_guards(const GuardVectors& guards) {
  if (!began_exact_ || renewed_ || done_) return false;
  for (std::size_t j = 0; j < guards.theta.size(); ++j) {
    if (!has_converged(guards, j)) return false;
  }
  renewed_ = !guards.theta.empty();
  return renewed_;
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
