#pragma once

#include <functional>
#include <heddle/solvers/problem/result.hpp>
#include <span>

namespace heddle {

/// The state of a solve that is passed to its monitor after each iteration. The views are valid
/// only during the call.
struct MonitorState {
  const IterationRecord& record;
  Index nev;  ///< number of wanted pairs, or columns of a linear system
  std::span<const double>
      eigenvalues;                    ///< Ritz values of the wanted pairs. Empty for linear systems
  std::span<const double> residuals;  ///< scaled as in `EigenResult` or `LinearResult`
};

/// Called once per iteration. If it returns false, the solve ends with `SolveStatus::interrupted`
/// and gives its current approximations as the result.
using Monitor = std::function<bool(const MonitorState&)>;

}  // namespace heddle
