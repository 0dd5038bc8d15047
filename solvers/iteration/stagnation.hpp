#pragma once

#include <heddle/linalg/context/context.hpp>
#include <limits>

namespace heddle::detail {

/// Detects that residuals have stopped falling at the level of rounding.
class StagnationTest {
 public:
  /// Takes the largest scaled residual of an iteration. True if it lies below `floor` and the
  /// smallest one so far was last improved by a tenth at least `kPatience` iterations ago.
  bool stagnated(Index iteration, double residual, double floor) noexcept;

  /// Forgets the residuals so far, because from `iteration` on other pairs or other start vectors
  /// are iterated.
  void restart(Index iteration) noexcept {
    best_ = std::numeric_limits<double>::infinity();
    best_iteration_ = iteration;
  }

 private:
  static constexpr Index kPatience = 20;
  double best_ = std::numeric_limits<double>::infinity();
  Index best_iteration_ = 0;
};

}  // namespace heddle::detail
