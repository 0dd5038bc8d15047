#pragma once

#include <functional>
#include <heddle/solvers/problem/result.hpp>
#include <span>

namespace heddle {

/// What a monitor sees after each iteration. Views are valid during the call only.
struct MonitorState {
  const IterationRecord& record;
  Index nev;  ///< pairs wanted; columns of a linear system
  std::span<const double>
      eigenvalues;                    ///< Ritz values of the wanted pairs; empty for linear systems
  std::span<const double> residuals;  ///< scaled as in `EigenResult` or `LinearResult`
};

/// Called once an iteration; false ends the solve with `SolveStatus::interrupted` and what there
/// is so far.
using Monitor = std::function<bool(const MonitorState&)>;

}  // namespace heddle
