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

}  // namespace heddle
