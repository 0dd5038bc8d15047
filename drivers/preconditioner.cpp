#include <fmt/format.h>

#include <heddle/drivers/preconditioner.hpp>

namespace heddle::detail {
namespace {

PreconditionerChoice automatic_choice(const Request& request, bool pencil) {
  switch (request.method) {
    case Method::automatic:
    case Method::block_lanczos:
      return PreconditionerChoice::none;
    case Method::lobpcg:
      if (request.which == Which::smallest) return PreconditionerChoice::chebyshev;
      return pencil ? PreconditionerChoice::jacobi : PreconditionerChoice::none;
    case Method::block_cg:
      return PreconditionerChoice::chebyshev;
  }
  return PreconditionerChoice::none;
}

PreconditionedMatrix preconditioned_matrix(const Request& request,
                                           const PreconditionerTask& task) {
  if (task.normal_equations) return PreconditionedMatrix::normal_equations;
  const bool of_mass = request.which == Which::largest && task.pencil;
  return of_mass ? PreconditionedMatrix::B : PreconditionedMatrix::A;
}

bool is_stored(PreconditionedMatrix matrix, const PreconditionerTask& task) {
  return matrix == PreconditionedMatrix::B ? task.B_stored : task.A_stored;
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

PreconditionerPlan plan_preconditioner(const Request& request, const PreconditionerTask& task) {
  const PreconditionerRequest& asked = request.preconditioner;
  const PreconditionedMatrix matrix = preconditioned_matrix(request, task);
  PreconditionerChoice type = asked.type;
  if (type == PreconditionerChoice::automatic) {
    const bool possible = !task.normal_equations && is_stored(matrix, task);
    type = possible ? automatic_choice(request, task.pencil) : PreconditionerChoice::none;
  }
  return {type, matrix, asked.degree, asked.block_size, asked.triangular_solve};
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

}  // namespace heddle::detail
