#pragma once

#include <heddle/drivers/problem/request.hpp>
#include <memory>
#include <string>
#include <vector>

/// The plan of a solve, with reasons.
namespace heddle {

namespace detail {
struct PlanDetails;
}

/// One choice of a plan.
struct PlannedChoice {
  std::string name;    ///< of what is chosen, such as "method"
  std::string value;   ///< what was chosen, such as "block_lanczos"
  std::string reason;  ///< why, in a sentence. Empty where the request says so, or for a finding
};

/// The plan for solving one problem on one device: what was found about the problem, and what was
/// chosen for it. `run` carries it out.
struct SolvePlan {
  /// The request with its method, limit of iterations and block size in place of automatic values.
  Request request{};
  std::string method{};          ///< that solves, as `Solution::method`
  std::string method_reason{};   ///< empty where the caller named the method
  Index block_size = 0;          ///< columns multiplied by A at once
  std::string preconditioner{};  ///< "jacobi of A", "none", …, or all that `auto` may take
  double device_bytes = 0;       ///< estimated peak of the memory of the device
  double host_bytes = 0;         ///< the same of host memory. On the host: the same number

  /// All findings and choices, in the order in which they were made.
  std::vector<PlannedChoice> choices() const;

  /// The facts and decisions that `run` reads.
  std::shared_ptr<const detail::PlanDetails> details{};
};

}  // namespace heddle
