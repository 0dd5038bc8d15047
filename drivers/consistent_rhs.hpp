#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <vector>

/// Right-hand sides of singular linear systems that have no solution.
namespace heddle::detail {

/// The parts of the right-hand sides along the known null vectors z of a symmetric A. A X = B has a
/// solution only if zᵀb = 0 for all of them. The parts are Z (ZᵀZ)⁻¹Zᵀb.
class ConsistentRhs {
 public:
  /// Removes the parts from the right-hand sides of `problem`, unless they are nothing but
  /// rounding. The solution then is one of least residual. Unless `project_rhs` asks for that, the
  /// tolerance of `request` becomes smaller, so that residuals with parts within it still meet it.
  ConsistentRhs(HostContext& context, Problem& problem, Request& request);

  /// Names the parts in the reason. Unless `project_rhs` asked for the removal, a column whose part
  /// is above the tolerance counts as not converged, and the status of a solve that converged
  /// becomes `breakdown`. Residuals are those of B then.
  void report(Solution& solution) const;

 private:
  bool asked_ = false;            // by project_rhs
  bool known_ = false;            // whether null vectors are known
  std::vector<double> parts_{};   // relative to ‖b‖, of each column. Empty: nothing was removed
  std::vector<double> limits_{};  // on ‖r‖/‖b‖, of each column
};

}  // namespace heddle::detail
