#include <fmt/format.h>

#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/apps/problem.hpp>

namespace heddle::apps {
namespace {

PreconditionerChoice automatic_choice(const Config& config, bool pencil) {
  if (uses_transpose(config)) return PreconditionerChoice::none;
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

PreconditionedMatrix preconditioned_matrix(const Config& config, bool pencil) {
  if (uses_transpose(config)) return PreconditionedMatrix::normal_equations;
  const bool of_mass = config.solver.which == Which::largest && pencil;
  return of_mass ? PreconditionedMatrix::B : PreconditionedMatrix::A;
}

std::string_view matrix_name(PreconditionedMatrix matrix) {
  switch (matrix) {
    case PreconditionedMatrix::A:
      return "A";
    case PreconditionedMatrix::B:
      return "B";
    case PreconditionedMatrix::normal_equations:
      return "A^T A";
  }
  return "";
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
          preconditioned_matrix(config, pencil), asked.degree, asked.block_size,
          asked.triangular_solve};
}

std::string_view PreconditionerPlan::name() const noexcept {
  switch (type) {
    case PreconditionerChoice::jacobi:
      return "jacobi";
    case PreconditionerChoice::block_jacobi:
      return "block_jacobi";
    case PreconditionerChoice::chebyshev:
      return "chebyshev";
    case PreconditionerChoice::incomplete_cholesky:
      return "incomplete_cholesky";
    case PreconditionerChoice::none:
    case PreconditionerChoice::automatic:
      break;
  }
  return "none";
}

std::string PreconditionerPlan::describe() const {
  if (type == PreconditionerChoice::none) return "none";
  std::string text = fmt::format("{} of {}", name(), matrix_name(matrix));
  if (type == PreconditionerChoice::block_jacobi && block_size > 0) {
    text += fmt::format(", blocks of {}", block_size);
  }
  if (type == PreconditionerChoice::chebyshev) text += fmt::format(", degree {}", degree);
  if (type == PreconditionerChoice::incomplete_cholesky) text += solve_name(triangular_solve);
  return text;
}

}  // namespace heddle::apps
