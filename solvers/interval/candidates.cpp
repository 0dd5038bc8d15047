#include <algorithm>
#include <cmath>
#include <heddle/solvers/interval/candidates.hpp>
#include <limits>
#include <numbers>

namespace heddle::detail {
namespace {

/// Candidates have θ ≥ (1 − kMargin) level. Ritz values approach the level from below, and an
/// eigenvector at an end of the interval may be mixed with one beyond the other end.
constexpr double kMargin = 0.01;
constexpr double kMarginOfCheck = 0.05;

/// Of a Ritz vector that a check locks, the largest ‖F x − θ x‖ relative to level − θ.
constexpr double kLockable = 0.02;

/// The magnification, in units of √n, after which a missed eigenvector dominates a Ritz vector.
constexpr double kDominating = 20;

/// The window leaves ripples of a few hundredths on values of F from 0 to 1.
constexpr double kLargest = 1.5;
constexpr double kSmallest = -0.5;

}  // namespace

void Candidates::begin_check() noexcept {
  *this = {};
  checking_ = true;
}

void Candidates::take(const LanczosValues& ritz, double level, Index steps) {
  const Index k = ritz.order();
  const double least = (1 - (checking_ ? kMarginOfCheck : kMargin)) * level;
  count_ = 0;
  residual_ = growth_ = 0;
  while (count_ < k && ritz.value(count_) >= least) {
    residual_ = std::max(residual_, ritz.residual(count_++) / level);
  }
  beyond_spectrum_ = ritz.value(0) > kLargest || ritz.value(k - 1) < kSmallest;
  others_rest_ = true;
  for (Index j = count_; j < k; ++j) {
    others_rest_ = others_rest_ && ritz.value(j) + ritz.residual(j) < level;
  }
  lockable_ = count_;
  while (lockable_ < k && ritz.residual(lockable_) <= kLockable * (level - ritz.value(lockable_))) {
    ++lockable_;
  }
  if (count_ == k) return;
  const double first = ritz.value(count_);
  const double spread = first - ritz.value(k - 1);
  const double rate = spread > 0 ? std::acosh(1 + 2 * (level - first) / spread)
                                 : std::numeric_limits<double>::infinity();
  if (steps > 1) {
    growth_ = std::max(static_cast<double>(steps - 1) * rate - std::numbers::ln2, 0.0);
  }
}

bool Candidates::none_missed(Index n) const noexcept {
  return count_ == 0 && others_rest_ &&
         before_ + growth_ >= std::log(kDominating * std::sqrt(static_cast<double>(n)));
}

}  // namespace heddle::detail
