#pragma once

#include <algorithm>
#include <heddle/linalg/context/context.hpp>
#include <limits>

namespace heddle::detail {

/// Detects that residuals have stopped falling at the level of rounding.
class StagnationTest {
 public:
  /// Takes the largest scaled residual of an iteration. True if it lies below `floor` and the
  /// smallest one so far was last improved by a tenth at least `kPatience` iterations ago.
  bool stagnated(Index iteration, double residual, double floor) noexcept;

  /// Whether the smallest residual that `stagnated` was given, of any size, was last improved by a
  /// tenth at least `kPatience` iterations ago, and the iteration `other` lies as far back.
  bool stalled(Index iteration, Index other) const noexcept {
    return iteration - std::max(best_iteration_, other) >= kPatience;
  }

  /// Forgets the residuals so far, because from `iteration` on other pairs or other start vectors
  /// are iterated.
  void restart(Index iteration) noexcept {
    best_ = least_ = std::numeric_limits<double>::infinity();
    best_iteration_ = least_iteration_ = iteration;
  }

  /// Grants the same patience anew to residuals that may yet fall. False, and no effect, if the
  /// smallest residual since the restart was last improved by a tenth in the first half of all
  /// iterations.
  bool wait(Index iteration) noexcept;

 private:
  static constexpr Index kPatience = 20;
  double best_ = std::numeric_limits<double>::infinity();
  Index best_iteration_ = 0;
  double least_ = std::numeric_limits<double>::infinity();  // since the restart, whatever `wait`s
  Index least_iteration_ = 0;
};

}  // namespace heddle::detail
