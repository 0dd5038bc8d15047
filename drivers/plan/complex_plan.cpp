#include <fmt/format.h>

#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/plan/certificate.hpp>
#include <heddle/drivers/plan/checks.hpp>
#include <heddle/drivers/plan/complex_plan.hpp>
#include <heddle/drivers/plan/details.hpp>
#include <heddle/drivers/plan/scaling.hpp>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <string>
#include <utility>

namespace heddle::detail {
namespace {

using Complex = std::complex<double>;

[[noreturn]] void refuse(std::string field, std::string_view what) {
  throw RequestError(std::move(field), fmt::format(": {} real matrices only", what));
}

void check_part(ProblemPart part, bool given, std::string_view what) {
  if (given) throw ProblemError(part, fmt::format("{} real matrices only", what));
}

}  // namespace

template <class M, class X>
void check_for_complex(const ProblemOf<M, X>& problem, const Request& request) {
  check_part(ProblemPart::geometric_stiffness, problem.geometric_stiffness.has_value(),
             "load factors are those of");
  check_part(ProblemPart::coordinates, problem.coordinates.cols() > 0,
             "positions of nodes serve preconditioners of");
  check_part(ProblemPart::near_null, problem.near_null.cols() > 0,
             "near null vectors serve preconditioners of");
  if (request.precision != Precision::full) refuse("precision", "single and mixed are there for");
  if (asks_for_lower(request.preconditioner.precision)) {
    refuse("preconditioner.precision", "lower precision is there for");
  }
  if (request.project_rhs) refuse("project_rhs", "null vectors are known of");
  if (request.reorder != RowOrder::automatic && request.reorder != RowOrder::none) {
    refuse("reorder", "rows are reordered of");
  }
}

void check_preconditioner(const PreconditionerPlan& plan) {
  if (plan.kind == nullptr || plan.kind->takes_complex()) return;
  std::string others;
  for (const std::string_view name : preconditioner_table().names()) {
    if (preconditioner_table().get(name).takes_complex()) others += fmt::format("{}, ", name);
  }
  throw RequestError("preconditioner.type",
                     fmt::format(": {} takes real matrices only; complex ones go with {}none",
                                 plan.kind->name, others));
}

namespace {

/// The facts that can be told without the method, and the checks that read no entry.
Facts facts_about(HostContext& host, const Machine& machine, const ComplexProblem& problem,
                  const Request& request) {
  Facts facts = shape_of(problem, machine.processes);
  if (request.method != Method::automatic) check_kind(facts, request, false);
  check_shapes(facts);
  if (facts.A.stored && !facts.normal_equations) {
    check_symmetric(host, ProblemPart::matrix, problem.A);
  }
  if (facts.B.given && facts.B.stored) {
    facts.diagonal_mass = is_diagonal(problem.B->view());
    check_symmetric(host, ProblemPart::mass, *problem.B);
    if (null_space_of_mass(host, problem.B->view()) > 0) {
      throw ProblemError(ProblemPart::mass,
                         "the mass matrix is singular, which goes with real matrices only");
    }
  }
  facts.infinite_eigenvalues = 0;
  return facts;
}

/// The cost of a factor of A − σB that counts pairs.
FactorCost indefinite_cost(HostContext& host, const ComplexProblem& problem) {
  const auto B = problem.B ? problem.B->view() : CsrView<Complex, HostSpace>{};
  return indefinite_factor_cost<Complex>(host, problem.A.view(), B);
}

InverseEstimate inverse_estimate(HostContext& host, const ComplexProblem& problem,
                                 const Facts& facts, const Request& request) {
  const double per_row = static_cast<double>(facts.A.nnz) / static_cast<double>(facts.order());
  const double norm = problem.A.largest() * per_row;
  if (request.interval) return {indefinite_cost(host, problem), norm};
  const auto B = problem.B ? problem.B->view() : CsrView<Complex, HostSpace>{};
  FactorCost cost = estimated_factor_cost<Complex>(host, problem.A.view(), B);
  cost.operations *= 4;  // real ones
  return {cost, norm};
}

}  // namespace

SolvePlan make_plan(HostContext& host, const Machine& machine, const ComplexProblem& problem,
                    const Request& asked) {
  check_for_complex(problem, asked);
  const Request request = with_pairs(asked, problem.rhs.cols() > 0);
  PlanDetails plan{.facts = facts_about(host, machine, problem, request), .on_gpu = machine.on_gpu};
  const Facts& facts = plan.facts;
  MethodChoice choice = choose_method(
      request, facts, [&] { return inverse_estimate(host, problem, facts, request); });
  choice.request = with_block_size(choice.request, facts.sizes(), !machine.on_gpu);
  if (request.method == Method::automatic) check_kind(facts, choice.request, true);
  plan.method_reason = choice.reason;
  plan.stages = stages_of(choice, facts, machine.on_gpu);
  for (StagePlan& stage : plan.stages) stage.scaling = scaling_of(problem, stage.request);
  const StagePlan& first = plan.stages.front();
  check_preconditioner(first.preconditioner);
  check_found(machine, facts, first.request, first.preconditioner);
  plan.memory = estimate_memory(facts, first.request, first.preconditioner, machine.on_gpu);
  check_memory(plan.memory, first.request, machine);
  if (needs_factor_cost(first, facts)) plan.factor = indefinite_cost(host, problem);
  check_certify_memory(first.request, plan.factor);
  plan.row_order.order = RowOrder::none;
  SolvePlan made = plan_of(std::move(plan));
  return made;
}

template void check_for_complex(const ComplexProblem&, const Request&);
#define HEDDLE_INSTANTIATE(T, Ctx) \
  template void check_for_complex(const ResidentProblem<T, Ctx>&, const Request&);
HEDDLE_FOR_EACH_COMPLEX_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
