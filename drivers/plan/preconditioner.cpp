#include <fmt/format.h>

#include <heddle/drivers/plan/preconditioner.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

constexpr std::string_view kOfComplex =
    "preconditioners of complex matrices have the precision of the solve";

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

ProductPrecision products_of(PreconditionerPrecision precision) noexcept {
  switch (precision) {
    case PreconditionerPrecision::half:
      return ProductPrecision::half;
    case PreconditionerPrecision::bf16:
      return ProductPrecision::bf16;
    case PreconditionerPrecision::tf32:
      return ProductPrecision::tf32;
    default:
      return ProductPrecision::single_precision;
  }
}

/// The reason why block CG uses no lowered preconditioner of this kind in a solve by `request`,
/// else empty.
std::string obstacle_in_cg(const Request& request, const PreconditionerKind& kind) {
  if (!kind.lowered_in_cg && !asks_for_lower(request.preconditioner.precision)) {
    return "block CG takes fewer iterations with a preconditioner that is symmetric to the digits "
           "of double precision";
  }
  if (request.algorithm == CgAlgorithm::breakdown_free) return "";
  return "algorithm pseudo_block needs a preconditioner that is symmetric to the digits of double "
         "precision, breakdown_free does not";
}

/// The reason why `kind` has no products in a type shorter than single precision, else empty.
std::string obstacle_to_narrow(const PreconditionedProblem& problem,
                               const PreconditionerKind& kind) {
  if (!kind.narrow_products) {
    std::vector<std::string_view> others;
    for (const std::string_view name : preconditioner_table().names()) {
      if (preconditioner_table().get(name).narrow_products) others.push_back(name);
    }
    return fmt::format("{} has no products in half, bf16 or tf32; {} have", kind.name,
                       fmt::join(others, ", "));
  }
  if (problem.distributed) return "products in half, bf16 and tf32 serve one process";
  return "";
}

/// The reason why `kind` is not lowered in a solve by `request`. Empty if it is, unless the request
/// asks for double precision. Null: no preconditioner.
std::string obstacle_to_lower(const Request& request, const PreconditionedProblem& problem,
                              const PreconditionerKind* kind) {
  if (kind == nullptr) return "there is no preconditioner";
  if (request.precision == Precision::single) return "the whole solve is in single precision";
  if (request.precision == Precision::mixed) return "each stage of mixed precision has its own";
  if (problem.task == PreconditionedTask::linear_system) {
    if (std::string reason = obstacle_in_cg(request, *kind); !reason.empty()) return reason;
  }
  if (!kind->can_be_lowered<HostContext>()) {
    return fmt::format("{} has no form in single precision", kind->name);
  }
  const bool narrow =
      products_of(request.preconditioner.precision) != ProductPrecision::single_precision;
  return narrow ? obstacle_to_narrow(problem, *kind) : "";
}

/// Whether `kind` is lowered, and why or why not.
std::pair<bool, std::string> lowering(const Request& request, const PreconditionedProblem& problem,
                                      const PreconditionerKind* kind) {
  const PreconditionerPrecision asked = request.preconditioner.precision;
  const bool full = asked == PreconditionerPrecision::full;
  const std::string obstacle = obstacle_to_lower(request, problem, kind);
  if (!full && !obstacle.empty()) return {false, obstacle};
  if (full || asks_for_lower(asked)) return {!full, "as asked"};
  const bool linear = problem.task == PreconditionedTask::linear_system;
  return {true, linear ? "block CG takes about as many iterations with it"
                       : "LOBPCG needs no more digits of its search directions"};
}

void choose_precision(const Request& request, const PreconditionedProblem& problem,
                      PreconditionerPlan& plan) {
  const ProductPrecision products = products_of(request.preconditioner.precision);
  std::tie(plan.lowered, plan.precision_reason) = lowering(request, problem, plan.kind);
  std::tie(plan.strong_lowered, plan.strong_precision_reason) =
      lowering(request, problem, plan.strong);
  if (plan.lowered) plan.options.set_products(products);
  if (plan.strong_lowered) plan.strong_options.set_products(products);
}

/// Lets the solve choose multigrid where `auto` means chebyshev of A. Options are those of
/// chebyshev, so that they leave no choice.
void offer_multigrid(const PreconditionerRequest& asked, const PreconditionedProblem& problem,
                     PreconditionerPlan& plan) {
  if (asked.type != "auto" || !asked.options.empty() || plan.name() != "chebyshev") return;
  const PreconditionerKind& multigrid = preconditioner_table().get("multigrid");
  if (!multigrid.unsuitable(problem).empty()) return;
  plan.strong = &multigrid;
  plan.strong_options = multigrid.options();
}

}  // namespace

std::string PreconditionerPlan::describe() const {
  return kind == nullptr ? "none" : describe(*kind, options);
}

std::string PreconditionerPlan::describe(const PreconditionerKind& other,
                                         const PreconditionerOptions& with) const {
  return fmt::format("{} of {}{}", other.name, matrix_name(matrix), other.describe(with));
}

PreconditionedProblem preconditioned_problem(const Request& request, const ProblemSizes& sizes,
                                             bool stored) {
  return {.task = task_of(request.method, sizes.normal_equations),
          .which = request.which,
          .pencil = sizes.pencil,
          .stored = stored,
          .distributed = sizes.processes > 1};
}

PreconditionedProblem preconditioned_problem(const Request& request, const Facts& facts) {
  PreconditionedProblem described = preconditioned_problem(request, facts.sizes());
  switch (described.matrix()) {
    case PreconditionedMatrix::A:
      described.stored = facts.A.stored;
      break;
    case PreconditionedMatrix::B:
      described.stored = facts.B.stored;
      break;
    case PreconditionedMatrix::normal_equations:  // the diagonal is that of the rows of Aᵀ
      described.stored = facts.A_transposed.given ? facts.A_transposed.stored : facts.A.stored;
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

PreconditionerPlan plan_preconditioner(const Request& request, const Facts& facts) {
  if (facts.preconditioner.given || all_known(request, facts.sizes())) return {};
  const PreconditionedProblem described = preconditioned_problem(request, facts);
  PreconditionerPlan plan = plan_preconditioner(request.preconditioner, described);
  const auto tell = [&](const PreconditionerKind* kind, PreconditionerOptions& options) {
    if (takes_near_null(kind, plan.matrix)) options.set_near_null(near_null_of(facts));
  };
  if (facts.complex) {
    plan.precision_reason = kOfComplex;
    return plan;
  }
  offer_multigrid(request.preconditioner, described, plan);
  tell(plan.kind, plan.options);
  tell(plan.strong, plan.strong_options);
  choose_precision(request, described, plan);
  plan.may_be_diagonal =
      plan.strong != nullptr && !asks_for_lower(request.preconditioner.precision);
  return plan;
}

bool takes_near_null(const PreconditionerKind* kind, PreconditionedMatrix matrix) noexcept {
  return kind != nullptr && kind->takes_near_null && matrix == PreconditionedMatrix::A;
}

bool asks_for_lower(PreconditionerPrecision precision) noexcept {
  return precision != PreconditionerPrecision::automatic &&
         precision != PreconditionerPrecision::full;
}

std::string_view name_of(PreconditionerPrecision precision) noexcept {
  switch (precision) {
    case PreconditionerPrecision::automatic:
      return "auto";
    case PreconditionerPrecision::full:
      return "double";
    case PreconditionerPrecision::single:
      return "single";
    default:
      return limits_of(products_of(precision)).name;
  }
}

void refuse_lower_precision(PreconditionerPrecision asked, std::string_view reason) {
  throw RequestError("preconditioner.precision",
                     fmt::format(": {}: {}; use auto or double", name_of(asked), reason));
}

std::string describe_preconditioner(const Request& request, const Facts& facts,
                                    const PreconditionerPlan& plan, bool on_gpu) {
  if (facts.preconditioner.given) {
    return facts.preconditioner.stored ? "a stored matrix" : "a callable";
  }
  if (plan.strong == nullptr) return plan.describe();
  // As `AutomaticPreconditioner` chooses.
  const bool diagonal = !on_gpu && plan.may_be_diagonal;
  const bool linear = diagonal && !is_eigensolver(request.method);
  const std::string_view factor = linear && facts.processes == 1 ? ", or cholesky" : "";
  if (linear && facts.rhs.cols == 1) {
    return fmt::format("jacobi of {}, or {}{}, or incomplete_cholesky", matrix_name(plan.matrix),
                       plan.strong->name, factor);
  }
  return fmt::format("{}, or {}{}{}", plan.describe(), plan.strong->name,
                     diagonal ? ", or jacobi" : "", factor);
}

}  // namespace heddle::detail
