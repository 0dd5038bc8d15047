#include <fmt/format.h>

#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/apps/problem.hpp>

namespace heddle::apps {
namespace {

PreconditionerChoice automatic_choice(const Config& config, bool pencil) {
  if (finds_triplets(config)) return PreconditionerChoice::none;
  switch (config.type) {
    case SolverType::lobpcg:
      if (config.solver.which == Which::smallest) return PreconditionerChoice::chebyshev;
      return pencil ? PreconditionerChoice::jacobi : PreconditionerChoice::none;
    case SolverType::block_lanczos:
      return PreconditionerChoice::none;
    case SolverType::block_cg:
      return PreconditionerChoice::chebyshev;
  }
  return PreconditionerChoice::none;
}

std::string_view solve_name(TriangularSolve solve) {
  switch (solve) {
    case TriangularSolve::level_scheduled:
      return ", solved by levels";
    case TriangularSolve::iterated:
      return ", solved by sweeps";
    case TriangularSolve::automatic:
      break;
  }
  return "";
}

}  // namespace

PreconditionerPlan plan_preconditioner(const Config& config, bool pencil) {
  const PreconditionerConfig& asked = config.preconditioner;
  const bool automatic = asked.type == PreconditionerChoice::automatic;
  return {automatic ? automatic_choice(config, pencil) : asked.type,
          config.solver.which == Which::largest && pencil, asked.degree, asked.block_size,
          asked.triangular_solve};
}

std::string PreconditionerPlan::describe() const {
  const char* matrix = of_mass ? "B" : "A";
  switch (type) {
    case PreconditionerChoice::jacobi:
      return fmt::format("jacobi of {}", matrix);
    case PreconditionerChoice::block_jacobi:
      if (block_size == 0) return fmt::format("block_jacobi of {}", matrix);
      return fmt::format("block_jacobi of {}, blocks of {}", matrix, block_size);
    case PreconditionerChoice::chebyshev:
      return fmt::format("chebyshev of {}, degree {}", matrix, degree);
    case PreconditionerChoice::incomplete_cholesky:
      return fmt::format("incomplete_cholesky of {}{}", matrix, solve_name(triangular_solve));
    case PreconditionerChoice::none:
    case PreconditionerChoice::automatic:
      break;
  }
  return "none";
}

}  // namespace heddle::apps
