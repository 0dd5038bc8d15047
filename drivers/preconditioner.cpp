#include <fmt/format.h>

#include <heddle/drivers/preconditioner.hpp>

namespace heddle::detail {
namespace {

PreconditionedTask task_of(Method method, bool normal_equations) {
  switch (method) {
    case Method::lobpcg:
      if (normal_equations) break;
      return PreconditionedTask::eigenpairs;
    case Method::block_cg:
      return normal_equations ? PreconditionedTask::least_squares
                              : PreconditionedTask::linear_system;
    case Method::automatic:
    case Method::block_lanczos:
      break;
  }
  return PreconditionedTask::unpreconditioned;
}

}  // namespace

std::string PreconditionerPlan::describe() const {
  if (kind == nullptr) return "none";
  return fmt::format("{} of {}{}", kind->name, matrix_name(matrix), kind->describe(options));
}

PreconditionedProblem preconditioned_problem(const Request& request, const ProblemSizes& sizes,
                                             bool stored) {
  return {.task = task_of(request.method, sizes.normal_equations),
          .which = request.which,
          .pencil = sizes.pencil,
          .stored = stored};
}

PreconditionedProblem preconditioned_problem(const Request& request, const Problem& problem) {
  PreconditionedProblem described = preconditioned_problem(request, problem.sizes());
  switch (described.matrix()) {
    case PreconditionedMatrix::A:
      described.stored = problem.A.is_stored();
      break;
    case PreconditionedMatrix::B:
      described.stored = problem.B->is_stored();
      break;
    case PreconditionedMatrix::normal_equations:  // the diagonal is that of the rows of Aᵀ
      described.stored =
          problem.A_transposed ? problem.A_transposed->is_stored() : problem.A.is_stored();
      break;
  }
  return described;
}

PreconditionerPlan plan_preconditioner(const PreconditionerRequest& asked,
                                       const PreconditionedProblem& problem) {
  const std::string_view name =
      asked.type == "auto" ? automatic_preconditioner(problem) : std::string_view(asked.type);
  PreconditionerPlan plan;
  plan.matrix = problem.matrix();
  if (name == "none") return plan;
  plan.kind = &preconditioner_table().get(name);
  plan.options = plan.kind->options(asked.options);
  return plan;
}

PreconditionerPlan plan_preconditioner(const Request& request, const Problem& problem) {
  if (problem.preconditioner) return {};
  return plan_preconditioner(request.preconditioner, preconditioned_problem(request, problem));
}

std::string describe_preconditioner(const Request& request, const Problem& problem) {
  if (problem.preconditioner) {
    return problem.preconditioner->is_stored() ? "a stored matrix" : "a callable";
  }
  return plan_preconditioner(request, problem).describe();
}

}  // namespace heddle::detail
