#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/choice.hpp>
#include <heddle/drivers/host_detour.hpp>
#include <heddle/drivers/input.hpp>
#include <heddle/drivers/memory.hpp>
#include <heddle/drivers/order_problem.hpp>
#include <heddle/drivers/scaling.hpp>
#include <heddle/drivers/solve_placed.hpp>
#include <heddle/drivers/solve_resident.hpp>
#include <heddle/drivers/stages.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heddle {

namespace detail {
namespace {

/// What the look at a stored matrix shows that only the solve of a host problem treats.
struct Finding {
  ProblemPart part = ProblemPart::matrix;
  std::string what{};  ///< empty: nothing
};

/// Looks at a stored matrix. Throws `ProblemError` for one that is not in compressed sparse rows,
/// or, unless `any_shape`, is not symmetric.
template <Scalar T, class Ctx>
CsrSurvey inspected(Ctx& context, const ResidentMatrix<T, Ctx>& A, ProblemPart part,
                    bool any_shape) {
  const CsrView<T, typename Ctx::Space> view = A.view();
  check_csr_shape(view.rows, view.cols, view.nnz);
  const CsrSurvey found = survey(context, view);
  if (found.invalid_row >= 0) {
    throw ProblemError(part,
                       fmt::format("row {} is not in compressed sparse rows: offsets must not "
                                   "fall, columns must ascend and lie in 0 to {}",
                                   found.invalid_row, view.cols - 1));
  }
  if (!any_shape && found.asymmetry > kSymmetryTolerance * found.largest) {
    throw ProblemError(part, fmt::format("the matrix is not symmetric: entries (i, j) and (j, i) "
                                         "differ by up to {:g}, the largest entry is {:g}",
                                         found.asymmetry, found.largest));
  }
  return found;
}

/// Looks at all stored matrices of `problem`.
template <Scalar T, class Ctx>
Finding inspect(Ctx& context, const ResidentProblem<T, Ctx>& problem, const Problem& shape,
                const Request& request) {
  Finding finding;
  const auto look = [&](const ResidentMatrix<T, Ctx>& A, ProblemPart part, bool any_shape) {
    if (!A.is_stored()) return;
    const CsrSurvey found = inspected(context, A, part, any_shape);
    if (part != ProblemPart::preconditioner && !is_moderate(found.largest, request)) {
      finding = {part, fmt::format("the largest entry of the matrix is {:g}", found.largest)};
    } else if (part == ProblemPart::mass && !(found.least_diagonal > 0)) {
      finding = {part, fmt::format("the smallest diagonal entry of the mass matrix is {:g}",
                                   found.least_diagonal)};
    }
  };
  look(problem.A, ProblemPart::matrix, problem.normal_equations);
  if (problem.A_transposed) look(*problem.A_transposed, ProblemPart::matrix, true);
  if (problem.preconditioner) look(*problem.preconditioner, ProblemPart::preconditioner, true);
  if (problem.B) {
    check_order_of_mass(shape);
    look(*problem.B, ProblemPart::mass, false);
  }
  return finding;
}

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

/// The shape of A as a matrix of a problem in host memory. `pattern` holds the offsets and columns
/// where they are known.
template <Scalar T, class Ctx>
Matrix shape_of(const ResidentMatrix<T, Ctx>& A, const HostCsrMatrix<T>& pattern = {}) {
  if (!A.is_stored()) {
    return {A.rows(), A.cols(), [](auto, auto) {}};
  }
  CsrView<double, HostSpace> shape{A.rows(), A.cols(), A.view().nnz};
  shape.row_offsets = pattern.view().row_offsets;
  shape.columns = pattern.view().columns;
  return Matrix(shape);
}

template <Scalar T, class Space>
Block shape_of(ConstBlockView<T, Space> X) {
  return Block(ConstBlockView<double, HostSpace>(nullptr, X.rows(), X.cols(), X.ld()));
}

/// A problem of the same shape whose arrays are null, by which sizes and options are checked.
template <Scalar T, class Ctx>
Problem shape_of(const ResidentProblem<T, Ctx>& problem) {
  const auto optional = [](const std::optional<ResidentMatrix<T, Ctx>>& A) {
    return A ? std::optional<Matrix>(shape_of(*A)) : std::nullopt;
  };
  return {.A = shape_of(problem.A),
          .B = optional(problem.B),
          .constraints = shape_of(problem.constraints),
          .initial_guess = shape_of(problem.initial_guess),
          .guess_from_random = problem.guess_from_random,
          .rhs = shape_of(problem.rhs),
          .normal_equations = problem.normal_equations,
          .A_transposed = optional(problem.A_transposed),
          .preconditioner = optional(problem.preconditioner),
          .near_null = problem.near_null,
          .coordinates = problem.coordinates,
          .infinite_eigenvalues = 0,
          .null_space = problem.null_space};
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

/// Whether the choice of a method may depend on the cost of a factorisation.
template <Scalar T>
bool may_factor(const Request& request, const Problem& shape) {
  return std::same_as<T, double> && request.method == Method::automatic &&
         request.which == Which::smallest && !request.interval && !shape.normal_equations &&
         shape.rhs.cols() == 0 && shape.constraints.cols() == 0 && shape.A.is_stored() &&
         shape.A.rows() == shape.A.cols() && !shape.preconditioner &&
         request.preconditioner.type == "auto" && (!shape.B || shape.B->is_stored());
}

template <Scalar T, class Ctx>
MethodChoice choose(Ctx& context, HostContext& host, const ResidentProblem<T, Ctx>& problem,
                    const Problem& shape, const Request& request) {
  if (!may_factor<T>(request, shape)) return choose_method(request, shape);
  Problem patterns = shape;
  const HostCsrMatrix<T> A = pattern_on_host<T>(context, host, problem.A.view());
  HostCsrMatrix<T> B;
  patterns.A = shape_of(problem.A, A);
  if (problem.B) {
    B = pattern_on_host<T>(context, host, problem.B->view());
    patterns.B = shape_of(*problem.B, B);
  }
  return choose_method(request, patterns);
}

template <Scalar T>
Request in_precision(Request request) {
  const Precision own = std::same_as<T, double> ? Precision::full : Precision::single;
  if (request.precision != Precision::full && request.precision != own) {
    throw RequestError("precision",
                       ": arrays on a device are used as they are, in their own precision: convert "
                       "them, or leave it out");
  }
  request.precision = own;
  return request;
}

/// One solve. The method of `request` has been chosen.
template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> solve_once(Device& device, Ctx& context,
                                                    ResidentProblem<T, Ctx> problem,
                                                    const Problem& shape, const Request& request,
                                                    const Monitor& monitor) {
  context.synchronize();
  context.profile().reset();
  const PreconditionerPlan plan = plan_preconditioner(request, shape);
  Solved<T, typename Ctx::Space> solved =
      solve_placed<T>(context, device.host(), std::move(problem), plan, request, monitor);
  Solution& solution = solved.solution;
  report_order({.reason = "arrays on a device keep their order"}, solution);
  if (shape.sizes().pencil) solution.frequencies = frequencies_of(solution.eigenvalues);
  if (solution.preconditioner_name.empty()) {
    solution.preconditioner_name = describe_preconditioner(request, shape, !device.is_host());
  }
  solution.device = device.kind();
  solution.device_note = device.note();
  solution.profile = context.profile();
  solution.peak_bytes = context.allocation_count().peak_bytes;
  solution.peak_bytes_most = solution.peak_bytes;
  return {std::move(solution), std::move(solved.vectors), std::move(solved.left_vectors)};
}

/// A solve by the chosen method, and by block Lanczos with an inverse where LOBPCG does not reach
/// the digits.
template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> solve_chosen(Device& device, Ctx& context,
                                                      const ResidentProblem<T, Ctx>& problem,
                                                      Problem shape, const MethodChoice& choice,
                                                      const Monitor& monitor) {
  auto first = solve_once(device, context, problem, shape, choice.request, monitor);
  first.solution.method_reason = choice.reason;
  if (!choice.may_continue || !is_unfinished(choice.request, first.solution)) return first;
  try {
    Request rest = remaining(choice.request, first.solution);
    rest.max_iterations = choice.request.max_iterations;
    rest.method = Method::block_lanczos;
    rest.filter = LanczosFilter::inverse;
    ResidentProblem<T, Ctx> guided = problem;
    guided.initial_guess = std::as_const(first.vectors).columns(0, first.solution.count());
    shape.initial_guess = shape_of(guided.initial_guess);
    auto second = solve_once(device, context, std::move(guided), shape, rest,
                             continued(first.solution, monitor));
    if (first.solution.status == SolveStatus::converged &&
        second.solution.status != SolveStatus::converged) {
      return first;
    }
    prepend(first.solution, second.solution, "of LOBPCG, which did not reach the digits");
    second.solution.method_reason =
        choice.reason +
        "; LOBPCG did not reach the digits, block Lanczos continued with an inverse";
    return second;
  } catch (const OutOfMemory& error) {
    first.solution.reason +=
        std::string("; block Lanczos with an inverse would need more memory: ") + error.what();
    return first;
  }
}

/// Checks what reads no entry. Callables take blocks of either precision.
template <Scalar T>
void check_kind_of(Problem& shape, const Request& request) {
  Request exact = request;
  exact.precision = Precision::full;
  check_kind(shape, exact);
}

template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> solve_in(Device& device, Ctx& context,
                                                  ResidentProblem<T, Ctx> problem,
                                                  const Request& asked, const Monitor& monitor) {
  if (!problem.normal_equations) problem.A_transposed.reset();
  Problem shape = shape_of(problem);
  check_shape(shape.A, shape.normal_equations);
  const Request own = in_precision<T>(asked);
  const Finding finding = inspect(context, problem, shape, own);
  if (asked.reorder != RowOrder::automatic && asked.reorder != RowOrder::none) {
    throw RequestError("reorder",
                       ": arrays on a device are used where they are, in their own order: leave it "
                       "out, or pass the problem in host memory");
  }
  const bool may_copy = is_stored(problem);
  if (!may_copy) refuse_beside_functions(finding, own);
  const auto from_host = [&](const std::string& why) {
    return solve_from_host(device, context, problem, shape, own, monitor, why);
  };
  if (!finding.what.empty()) return from_host(finding.what);
  if (own.project_rhs) return from_host("project_rhs asks for null vectors");
  MethodChoice choice = choose(context, device.host(), problem, shape, own);
  choice.request = with_block_size(choice.request, shape.sizes(), device.is_host());
  const Request& request = choice.request;
  check_kernel(device, request);
  check_kind_of<T>(shape, request);
  check_parts(device.host(), shape, request);
  if (may_copy) {
    const std::string why = rows_to_scale(context, problem, shape, choice);
    if (!why.empty()) return from_host(why);
  }
  problem.near_null = shape.near_null;
  CsrMatrix<T, typename Ctx::Space> transposed;
  if (problem.normal_equations && !problem.A_transposed) {
    transposed = transpose(context, problem.A.view());
    problem.A_transposed = ResidentMatrix<T, Ctx>(std::as_const(transposed).view());
    shape.A_transposed = shape_of(*problem.A_transposed);
  }
  const double needed = estimate_memory(shape, request, true).device - shape.bytes();
  require_memory(needed, device.memory_bytes(), device.is_host() ? "this machine" : device.name(),
                 "ask for fewer pairs or right-hand sides");
  return solve_chosen(device, context, problem, std::move(shape), choice, monitor);
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
ResidentSolution<T, typename Ctx::Space> solve(Device& device, ResidentProblem<T, Ctx> problem,
                                               const Request& request, const Monitor& monitor) {
  return detail::in_context_of<Ctx>(device, [&](Ctx& context) {
    return detail::solve_in(device, context, std::move(problem), request, monitor);
  });
}

template <Scalar T, class Ctx>
SpectralDensity spectral_density(Device& device, const ResidentMatrix<T, Ctx>& A,
                                 const SpectralDensityOptions& options) {
  return detail::in_context_of<Ctx>(device, [&](Ctx& context) {
    detail::check_square(ProblemPart::matrix, detail::shape_of(A));
    if (A.is_stored()) detail::inspected(context, A, ProblemPart::matrix, false);
    const detail::PlacedMatrix<T, Ctx> placed = detail::place_matrix(context, A, {});
    return spectral_density(context, *placed.product, options);
  });
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                                 \
  template ResidentSolution<T, Ctx::Space> solve(Device&, ResidentProblem<T, Ctx>, const Request&, \
                                                 const Monitor&);                                  \
  template SpectralDensity spectral_density(Device&, const ResidentMatrix<T, Ctx>&,                \
                                            const SpectralDensityOptions&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
