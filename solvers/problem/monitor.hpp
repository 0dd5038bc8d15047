#pragma once

#include <concepts>
#include <functional>
#include <heddle/solvers/problem/result.hpp>
#include <span>
#include <string_view>
#include <utility>

namespace heddle {

/// The state of a solve that is passed to its monitor after each iteration. The views are valid
/// only during the call.
struct MonitorState {
  const IterationRecord& record;  ///< of the iteration that has ended
  Index nev;                      ///< number of wanted pairs, or columns of a linear system
  std::span<const double>
      eigenvalues;                    ///< Ritz values of the wanted pairs. Empty for linear systems
  std::span<const double> residuals;  ///< scaled as in `EigenResult` or `LinearResult`
};

/// Watches a solve and can end it early, with `SolveStatus::interrupted` and the approximations so
/// far as the result. Functions that are left empty are not called. A callable on `MonitorState`
/// converts to a monitor that has only `iteration`.
struct Monitor {
  Monitor() = default;
  /// A monitor with this function as `iteration`.
  template <class Iteration>
  requires std::predicate<Iteration&, const MonitorState&> Monitor(Iteration called)
      : iteration(std::move(called)) {}  // NOLINT: a monitor is a callable

  /// Called once per iteration. False ends the solve.
  std::function<bool(const MonitorState&)> iteration{};

  /// Called between two products, also within a polynomial and within an inner solve, from the
  /// thread that solves. True ends the solve as soon as possible. From then on it must stay true.
  std::function<bool()> stop{};

  /// Called with the name of a stage that begins and may take long, such as "factoring A - sigma
  /// B".
  std::function<void(std::string_view)> stage{};

  /// Whether the solve shall end now.
  bool stops() const { return stop && stop(); }
  /// Calls `stage` if there is one.
  void begin_stage(std::string_view name) const {
    if (stage) stage(name);
  }

  /// This monitor with another function per iteration.
  Monitor with_iteration(std::function<bool(const MonitorState&)> called) const {
    Monitor other = *this;
    other.iteration = std::move(called);
    return other;
  }
};

}  // namespace heddle
