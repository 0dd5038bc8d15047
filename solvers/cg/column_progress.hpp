#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <limits>

namespace heddle::detail {

/// Decides whether a solve still makes progress, by the excess: the largest ‖r‖ of the active
/// columns relative to its limit.
class ColumnProgress {
 public:
  /// Takes the excess of an iteration. True if it has not improved by a tenth for 200 iterations,
  /// or for a third of all iterations if that is more. The count then starts afresh.
  bool stalled(Index iteration, double excess) noexcept;

  /// Whether the excess is more than `kLost` times the least one that `stalled` has taken.
  static constexpr double kLost = 1000;
  bool lost(double excess) const noexcept { return excess > kLost * best_excess_; }

  /// Takes the excess that refuted a claim of convergence. True if it is more than half of the
  /// least one so far.
  bool fruitless_claim(double excess) noexcept;

  /// Takes the excess of an iteration. True if it has not fallen to a tenth within 15 iterations.
  /// The count then starts afresh. With a preconditioner in lower precision, slow solves lose the
  /// orthogonality of their directions early.
  bool slow(Index iteration, double excess) noexcept;

  void archive(Archive& archive) {
    archive.values(best_excess_, best_iteration_, best_claim_, slow_excess_, slow_iteration_);
  }

 private:
  double best_excess_ = std::numeric_limits<double>::infinity();
  Index best_iteration_ = 0;  // of best_excess_
  double best_claim_ = std::numeric_limits<double>::infinity();
  double slow_excess_ = std::numeric_limits<double>::infinity();  // at slow_iteration_
  Index slow_iteration_ = 0;
};

}  // namespace heddle::detail
