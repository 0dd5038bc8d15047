#include <heddle/solvers/problem/result.hpp>

namespace heddle {

std::string_view status_name(SolveStatus status) noexcept {
  switch (status) {
    case SolveStatus::converged:
      return "converged";
    case SolveStatus::max_iterations:
      return "max_iterations";
    case SolveStatus::time_limit:
      return "time_limit";
    case SolveStatus::breakdown:
      return "breakdown";
    case SolveStatus::stagnated:
      return "stagnated";
    case SolveStatus::indefinite:
      return "indefinite";
    case SolveStatus::verification_failed:
      return "verification_failed";
    case SolveStatus::interrupted:
      return "interrupted";
  }
  return "breakdown";
}

std::string_view completeness_method_name(CompletenessMethod method) noexcept {
  switch (method) {
    case CompletenessMethod::none:
      return "none";
    case CompletenessMethod::dense:
      return "dense";
    case CompletenessMethod::graph:
      return "graph";
    case CompletenessMethod::random_block:
      return "random block";
    case CompletenessMethod::random_search:
      return "random search";
    case CompletenessMethod::stiff_rows:
      return "search of stiff rows";
    case CompletenessMethod::stiff_factor:
      return "factor of stiff rows";
    case CompletenessMethod::factor:
      return "factor of all rows";
    case CompletenessMethod::inertia:
      return "inertia";
  }
  return "none";
}

}  // namespace heddle
