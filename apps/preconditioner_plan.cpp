#include <fmt/format.h>

#include <heddle/apps/preconditioner_plan.hpp>

namespace heddle::apps {

PreconditionerPlan plan_preconditioner(const Config& config, bool pencil) {
  const bool smallest = config.solver.which == Which::smallest;
  PreconditionerPlan plan{config.preconditioner.type, !smallest && pencil,
                          config.preconditioner.degree};
  if (plan.type != PreconditionerChoice::automatic) return plan;
  if (smallest) {
    plan.type = PreconditionerChoice::chebyshev;
  } else {
    plan.type = pencil ? PreconditionerChoice::jacobi : PreconditionerChoice::none;
  }
  return plan;
}

std::string PreconditionerPlan::describe() const {
  const char* matrix = of_mass ? "B" : "A";
  switch (type) {
    case PreconditionerChoice::jacobi:
      return fmt::format("jacobi of {}", matrix);
    case PreconditionerChoice::chebyshev:
      return fmt::format("chebyshev of {}, degree {}", matrix, degree);
    case PreconditionerChoice::none:
    case PreconditionerChoice::automatic:
      break;
  }
  return "none";
}

}  // namespace heddle::apps
