#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <vector>

/// Right-hand sides of singular linear systems that have no solution.
namespace heddle::detail {

/// The parts of the right-hand sides along the known null vectors z of a symmetric A. A X = B has a
/// solution only if zᵀb = 0 for all of them. The parts are Z (ZᵀZ)⁻¹Zᵀb.
class ConsistentRhs {
 public:
  ConsistentRhs() = default;

  /// Finds the parts of `rhs`. Does nothing for eigenproblems, and where no null vector is known.
  ConsistentRhs(HostContext& context, const Block& rhs, const Facts& facts, const Request& request);

  /// `given`, from which this was made, without the parts, unless these are nothing but rounding.
  /// The solution then is one of least residual.
  const Block& of(const Block& given) const noexcept { return parts_.empty() ? given : rhs_; }

  /// The tolerance of `request`, or, unless `project_rhs` asks for the removal, one so much smaller
  /// that residuals with parts within the tolerance still meet it.
  double tolerance(const Request& request) const noexcept;

  /// Names the parts in the reason. Unless `project_rhs` asked for the removal, a column whose part
  /// is above the tolerance counts as not converged, and the status of a solve that converged
  /// becomes `breakdown`. Residuals are those of B then.
  void report(Solution& solution) const;

 private:
  Block rhs_{};                   // without the parts
  bool asked_ = false;            // by project_rhs
  bool known_ = false;            // whether null vectors are known
  double share_ = 0;              // the largest one of the tolerance, of parts that leave room
  std::vector<double> parts_{};   // relative to ‖b‖, of each column. Empty: nothing was removed
  std::vector<double> limits_{};  // on ‖r‖/‖b‖, of each column
};

}  // namespace heddle::detail
