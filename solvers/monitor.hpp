#pragma once

#include <functional>
#include <heddle/solvers/result.hpp>
#include <span>

namespace heddle {

/// What a monitor sees after each iteration. Views are valid during the call only.
struct MonitorState {
  const IterationRecord& record;
  Index nev;
  std::span<const double> eigenvalues;  ///< current Ritz values of the wanted pairs
  std::span<const double> residuals;    ///< their residuals, scaled as in `EigenResult`
};

/// Called once an iteration; false ends the solve with `SolveStatus::interrupted` and the pairs so
/// far.
using Monitor = std::function<bool(const MonitorState&)>;

}  // namespace heddle
