#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/inspect/resident.hpp>
#include <heddle/drivers/plan/certificate.hpp>
#include <heddle/drivers/plan/checks.hpp>
#include <heddle/drivers/plan/complex_plan.hpp>
#include <heddle/drivers/plan/make_plan.hpp>
#include <heddle/drivers/plan/resident.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/host_copy.hpp>
#include <heddle/drivers/solve/run_placed.hpp>
#include <heddle/drivers/solve/solve_resident.hpp>
#include <heddle/drivers/solve/stages.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace heddle {

namespace detail {
namespace {

/// Throws the error for what is asked of, or found in, a problem with functions, which cannot be
/// copied to host memory.
void refuse_beside_functions(const Finding& finding, const Request& request) {
  constexpr std::string_view kAdvice = ": pass all matrices as stored ones, none as a function";
  if (!finding.what.empty()) {
    throw ProblemError(finding.part, finding.what + std::string(kAdvice));
  }
  if (!request.project_rhs) return;
  throw RequestError("project_rhs", fmt::format(": null vectors are not known{}", kAdvice));
}

/// Offsets and columns of a stored A in host memory.
template <Scalar T>
HostCsrMatrix<T> pattern_on_host(HostContext&, HostContext& host, CsrView<T, HostSpace> A) {
  HostCsrMatrix<T> pattern(host, A.rows, A.cols, A.nnz);
  std::copy_n(A.row_offsets, A.rows + 1, pattern.row_offsets());
  std::copy_n(A.columns, A.nnz, pattern.columns());
  return pattern;
}
#ifdef HEDDLE_HAS_CUDA
template <Scalar T>
HostCsrMatrix<T> pattern_on_host(CudaContext& context, HostContext& host,
                                 CsrView<T, DeviceSpace> A) {
  HostCsrMatrix<T> pattern(host, A.rows, A.cols, A.nnz);
  const auto count = [](Index numbers, std::size_t bytes) {
    return static_cast<std::size_t>(numbers) * bytes;
  };
  context.copy_to_host(pattern.row_offsets(), A.row_offsets,
                       count(A.rows + 1, sizeof(std::int64_t)));
  context.copy_to_host(pattern.columns(), A.columns, count(A.nnz, sizeof(std::int32_t)));
  return pattern;
}
#endif

/// The estimated cost of a factorisation of A − σB, from patterns in host memory, and the norm.
template <Scalar T, class Ctx>
InverseEstimate estimate_inverse(Ctx& context, HostContext& host,
                                 const ResidentProblem<T, Ctx>& problem) {
  const auto pattern_of = [](const HostCsrMatrix<T>& A) {
    CsrView<double, HostSpace> pattern{A.rows(), A.cols(), A.view().nnz};
    pattern.row_offsets = A.view().row_offsets;
    pattern.columns = A.view().columns;
    return pattern;
  };
  const HostCsrMatrix<T> A = pattern_on_host<T>(context, host, problem.A.view());
  const double norm = norm_1<T>(context, problem.A.view());
  HostCsrMatrix<T> B;
  if (problem.B) B = pattern_on_host<T>(context, host, problem.B->view());
  FactorCost cost =
      estimate_factor_cost(pattern_of(A), problem.B ? pattern_of(B) : CsrView<double, HostSpace>{});
  if (kComplex<T>) cost.operations *= 4;  // real ones
  return {cost, norm};
}

template <Scalar T>
Request in_precision(Request request) {
  const Precision own = WideScalar<T> ? Precision::full : Precision::single;
  if (request.precision != Precision::full && request.precision != own) {
    throw RequestError("precision",
                       ": arrays on a device are used as they are, in their own precision: convert "
                       "them, or leave it out");
  }
  request.precision = own;
  return request;
}

/// The plan for a copy in host memory of `problem`.
template <Scalar T, class Ctx>
SolvePlan plan_for_copy(Device& device, Ctx& context, const ResidentProblem<T, Ctx>& problem,
                        const Facts& facts, const Request& request, const std::string& why,
                        const Monitor& monitor) {
  monitor.begin_stage("copying the problem to host memory");
  require_host_memory(facts.bytes(), facts.rhs.cols > 0 ? kFewerRightHandSides : kFewerPairs);
  auto copy = std::make_shared<const std::variant<Problem, ComplexProblem>>(
      on_host(context, device, problem));
  SolvePlan made =
      std::visit([&](const auto& there) { return plan(device, there, request, monitor); }, *copy);
  PlanDetails details = *made.details;
  details.host_copy = std::move(copy);
  details.copy_reason = why;
  made.details = std::make_shared<const PlanDetails>(std::move(details));
  return made;
}

template <Scalar T, class Ctx>
SolvePlan plan_in(Device& device, Ctx& context, const ResidentProblem<T, Ctx>& problem,
                  const Request& asked, const Monitor& monitor) {
  const Request request = with_pairs(in_precision<T>(asked), problem.rhs.cols() > 0);
  if constexpr (kComplex<T>) check_for_complex(problem, request);
  Facts facts = shape_of(problem, 1);
  check_shapes(facts);
  if (request.reorder != RowOrder::automatic && request.reorder != RowOrder::none) {
    throw RequestError("reorder",
                       ": arrays on a device are used where they are, in their own order: leave it "
                       "out, or pass the problem in host memory");
  }
  Finding finding = inspect(context, device.host(), problem, request, facts);
  if (facts.buckling) {
    finding = {ProblemPart::geometric_stiffness, "load factors are found from host memory"};
  }
  const bool may_copy = callable_part(facts).empty();
  if (!may_copy) refuse_beside_functions(finding, request);
  const auto from_copy = [&](const std::string& why) {
    return plan_for_copy(device, context, problem, facts, request, why, monitor);
  };
  if (!finding.what.empty()) return from_copy(finding.what);
  if (request.project_rhs) return from_copy("project_rhs asks for null vectors");
  const Machine machine = machine_of(device);
  MethodChoice choice = choose_method(
      request, facts, [&] { return estimate_inverse(context, device.host(), problem); });
  choice.request = with_block_size(choice.request, facts.sizes(), !machine.on_gpu);
  Request exact = choice.request;  // callables take blocks of either precision
  exact.precision = Precision::full;
  check_kind(facts, exact, request.method == Method::automatic);
  PlanDetails plan{.facts = std::move(facts), .on_gpu = machine.on_gpu};
  plan.method_reason = choice.reason;
  plan.stages = stages_of(choice, plan.facts, machine.on_gpu);
  const StagePlan& first = plan.stages.front();
  if constexpr (kComplex<T>) check_preconditioner(first.preconditioner);
  check_found(machine, plan.facts, first.request, first.preconditioner);
  if (may_copy) {
    const std::string why = rows_to_scale(context, problem, plan.facts, choice);
    if (!why.empty()) {
      return plan_for_copy(device, context, problem, plan.facts, request, why, monitor);
    }
  }
  if (needs_factor_cost(first, plan.facts)) {
    plan.factor = estimate_inverse(context, device.host(), problem).factor;
    check_certify_memory(first.request, plan.factor);
  }
  plan.row_order.reason = "arrays on a device keep their order";
  plan.memory = estimate_memory(plan.facts, first.request, first.preconditioner, true);
  require_memory(plan.memory.device - plan.facts.bytes(), device.memory_bytes(),
                 device.is_host() ? "this machine" : device.name(),
                 "ask for fewer pairs or right-hand sides");
  return plan_of(std::move(plan));
}

template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> run_copy(Device& device, Ctx& context,
                                                  const SolvePlan& plan, const Monitor& monitor) {
  Solution solution = std::visit([&](const auto& copy) { return run(device, copy, plan, monitor); },
                                 *plan.details->host_copy);
  solution.reason +=
      "; the problem was copied to host memory and solved from there: " + plan.details->copy_reason;
  auto vectors = take_block<T>(context, solution.vectors);
  auto left_vectors = take_block<T>(context, solution.left_vectors);
  return {std::move(solution), std::move(vectors), std::move(left_vectors)};
}

template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> run_stage(Device& device, Ctx& context,
                                                   ResidentProblem<T, Ctx> problem,
                                                   const PlanDetails& plan, const StagePlan& stage,
                                                   const Monitor& monitor) {
  context.synchronize();
  context.profile().reset();
  Solved<T, typename Ctx::Space> solved =
      run_placed<T>(context, device.host(), std::move(problem), plan.facts, stage.preconditioner,
                    stage.request, monitor);
  Solution& solution = solved.solution;
  report_stage(device, context, plan, stage, solution);
  return {std::move(solution), std::move(solved.vectors), std::move(solved.left_vectors)};
}

template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> run_in(Device& device, Ctx& context,
                                                ResidentProblem<T, Ctx> problem,
                                                const SolvePlan& plan, const Monitor& monitor) {
  using Result = ResidentSolution<T, typename Ctx::Space>;
  check_plan(device, shape_of(problem, 1), plan);
  if (plan.details->host_copy) return run_copy<T>(device, context, plan, monitor);
  if (!problem.normal_equations) problem.A_transposed.reset();
  CsrMatrix<T, typename Ctx::Space> transposed;
  if (problem.normal_equations && !problem.A_transposed) {
    transposed = adjoint(context, problem.A.view());
    problem.A_transposed = ResidentMatrix<T, Ctx>(std::as_const(transposed).view());
  }
  return run_stages<Result>(
      *plan.details, monitor,
      [&](const StagePlan& stage, const Result* before, const Monitor& watch) {
        if (before != nullptr) {
          problem.initial_guess = before->vectors.columns(0, before->solution.count());
        }
        return run_stage<T>(device, context, problem, *plan.details, stage, watch);
      });
}

/// Calls body(context) if the device has a context of the type Ctx.
template <class Ctx, class Body>
auto in_context_of(Device& device, Body body) {
  if (device.processes() > 1) {
    throw InvalidArgument("several processes or GPUs solve problems in host memory");
  }
  return device.with_context([&](auto& context) -> decltype(body(std::declval<Ctx&>())) {
    if constexpr (std::same_as<std::remove_reference_t<decltype(context)>, Ctx>) {
      return body(context);
    } else {
      throw InvalidArgument("the problem does not lie in the memory of the device");
    }
  });
}

}  // namespace
}  // namespace detail

template <Scalar T, class Ctx>
SolvePlan plan(Device& device, const ResidentProblem<T, Ctx>& problem, const Request& request,
               const Monitor& monitor) {
  return detail::in_context_of<Ctx>(device, [&](Ctx& context) {
    return detail::plan_in(device, context, problem, request, monitor);
  });
}

template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> run(Device& device, ResidentProblem<T, Ctx> problem,
                                             const SolvePlan& plan, const Monitor& monitor) {
  return detail::in_context_of<Ctx>(device, [&](Ctx& context) {
    return detail::run_in(device, context, std::move(problem), plan, monitor);
  });
}

template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> solve(Device& device, ResidentProblem<T, Ctx> problem,
                                               const Request& request, const Monitor& monitor) {
  const SolvePlan planned = plan(device, problem, request, monitor);
  return run(device, std::move(problem), planned, monitor);
}

template <Scalar T, class Ctx>
SpectralDensity spectral_density(Device& device, const ResidentMatrix<T, Ctx>& A,
                                 const SpectralDensityOptions& options) {
  return detail::in_context_of<Ctx>(device, [&](Ctx& context) {
    detail::check_square(ProblemPart::matrix, A.rows(), A.cols());
    if (A.is_stored()) detail::inspected(context, A, ProblemPart::matrix, false);
    const detail::PlacedMatrix<T, Ctx> placed = detail::place_matrix(context, A, {});
    return spectral_density(context, *placed.product, options);
  });
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                                 \
  template SolvePlan plan(Device&, const ResidentProblem<T, Ctx>&, const Request&,                 \
                          const Monitor&);                                                         \
  template ResidentSolution<T, Ctx::Space> run(Device&, ResidentProblem<T, Ctx>, const SolvePlan&, \
                                               const Monitor&);                                    \
  template ResidentSolution<T, Ctx::Space> solve(Device&, ResidentProblem<T, Ctx>, const Request&, \
                                                 const Monitor&);                                  \
  template SpectralDensity spectral_density(Device&, const ResidentMatrix<T, Ctx>&,                \
                                            const SpectralDensityOptions&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
