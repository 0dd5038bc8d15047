#include <heddle/solvers/iteration/stagnation.hpp>

namespace heddle::detail {

bool StagnationTest::stagnated(Index iteration, double residual, double floor) noexcept {
  if (residual < 0.9 * best_) {
    best_ = residual;
    best_iteration_ = iteration;
  }
  return residual < floor && iteration - best_iteration_ >= kPatience;
}

}  // namespace heddle::detail
