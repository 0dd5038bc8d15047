#include <heddle/solvers/iteration/stagnation.hpp>

namespace heddle::detail {
namespace {

constexpr double kProgress = 0.9;

}  // namespace

bool StagnationTest::stagnated(Index iteration, double residual, double floor) noexcept {
  if (residual < kProgress * best_) {
    best_ = residual;
    best_iteration_ = iteration;
  }
  if (residual < kProgress * least_) {
    least_ = residual;
    least_iteration_ = iteration;
  }
  return residual < floor && iteration - best_iteration_ >= kPatience;
}

bool StagnationTest::wait(Index iteration) noexcept {
  if (iteration >= 2 * least_iteration_) return false;
  best_ = std::numeric_limits<double>::infinity();
  best_iteration_ = iteration;
  return true;
}

}  // namespace heddle::detail
