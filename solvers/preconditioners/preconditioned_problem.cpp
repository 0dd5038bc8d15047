#include <heddle/solvers/preconditioners/preconditioned_problem.hpp>

namespace heddle {

std::string_view matrix_name(PreconditionedMatrix matrix) noexcept {
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

PreconditionedMatrix PreconditionedProblem::matrix() const noexcept {
  if (task == PreconditionedTask::least_squares) return PreconditionedMatrix::normal_equations;
  const bool far_end_of_pencil =
      task == PreconditionedTask::eigenpairs && which == Which::largest && pencil;
  return far_end_of_pencil ? PreconditionedMatrix::B : PreconditionedMatrix::A;
}

MatrixAccess PreconditionedProblem::access() const noexcept {
  if (!stored) return MatrixAccess::products;
  return task == PreconditionedTask::least_squares ? MatrixAccess::diagonal : MatrixAccess::entries;
}

}  // namespace heddle
