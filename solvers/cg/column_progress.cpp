#include <algorithm>
#include <heddle/solvers/cg/column_progress.hpp>

namespace heddle::detail {
namespace {

constexpr Index kPatience = 200;
constexpr double kProgress = 0.9;
constexpr Index kSlowIterations = 15;
constexpr double kSlowProgress = 0.1;

}  // namespace

bool ColumnProgress::stalled(Index iteration, double excess) noexcept {
  if (excess < kProgress * best_excess_) {
    best_excess_ = excess;
    best_iteration_ = iteration;
  }
  if (iteration - best_iteration_ < std::max(kPatience, iteration / 3)) return false;
  best_iteration_ = iteration;
  return true;
}

bool ColumnProgress::slow(Index iteration, double excess) noexcept {
  const bool late = iteration - slow_iteration_ >= kSlowIterations;
  const bool fallen = excess <= kSlowProgress * slow_excess_;
  if (late || fallen) {
    slow_excess_ = excess;
    slow_iteration_ = iteration;
  }
  return late && !fallen;
}

bool ColumnProgress::fruitless_claim(double excess) noexcept {
  const bool fruitless = excess > 0.5 * best_claim_;
  best_claim_ = std::min(best_claim_, excess);
  return fruitless;
}

}  // namespace heddle::detail
