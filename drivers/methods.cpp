#include <algorithm>
#include <heddle/drivers/methods.hpp>
#include <heddle/drivers/null_space.hpp>
#include <heddle/drivers/placed.hpp>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <type_traits>
#include <utility>

namespace heddle::detail {
namespace {

EigenOptions eigen_options(const Request& request) {
  return {request.nev,          request.which,
          request.block_size,   request.tolerance,
          request.criterion,    request.max_iterations,
          request.time_limit_s, request.seed,
          request.checkpoint,   kFactorShare * host_memory_bytes()};
}

LobpcgOptions lobpcg_options(const Request& request) {
  return {eigen_options(request), request.refresh_interval};
}

IntervalOptions interval_options(const Request& request) {
  return {eigen_options(request), request.interval->lower, request.interval->upper};
}

SingularOptions singular_options(const Request& request) {
  SingularOptions options;
  static_cast<EigenOptions&>(options) = eigen_options(request);
  options.solver =
      request.method == Method::lobpcg ? SingularSolver::lobpcg : SingularSolver::block_lanczos;
  return options;
}

BlockCgOptions block_cg_options(const Request& request) {
  return {{request.tolerance, request.linear_criterion, request.max_iterations,
           request.time_limit_s, request.checkpoint},
          request.algorithm,
          request.refresh_interval};
}

LeastSquaresOptions least_squares_options(const Request& request) {
  LeastSquaresOptions options = block_cg_options(request);
  options.damp = request.damp;
  return options;
}

/// Copies the fields that all kinds of results have.
template <class Result>
Solution common_part(const Result& result) {
  Solution solution;
  solution.status = result.status;
  solution.reason = result.reason;
  solution.iterations = result.iterations;
  solution.operator_applications = result.operator_applications;
  solution.residuals = result.residuals;
  solution.converged = result.converged;
  solution.history = result.history;
  return solution;
}

template <Scalar T, class Space>
Solved<T, Space> solved(EigenResult<T, Space> result) {
  Solution solution = common_part(result);
  solution.orthogonalization = result.orthogonalization;
  solution.inverse_applications = result.inverse_applications;
  solution.eigenvalues = result.eigenvalues;
  solution.error_bounds = result.error_bounds;
  solution.limited_by_rounding = result.limited_by_rounding;
  solution.straddles = result.straddles;
  solution.inverse_reaches_more_digits = result.inverse_reaches_more_digits;
  solution.completeness = result.completeness;
  solution.orthogonality = result.orthogonality;
  return {std::move(solution), std::move(result.eigenvectors)};
}

template <Scalar T, class Space>
Solved<T, Space> solved(SingularResult<T, Space> result) {
  Solution solution = common_part(result);
  solution.orthogonalization = result.orthogonalization;
  solution.singular_values = result.singular_values;
  for (const double sigma : result.singular_values) solution.eigenvalues.push_back(sigma * sigma);
  solution.error_bounds = result.error_bounds;
  solution.limited_by_rounding = result.limited_by_rounding;
  solution.completeness = result.completeness;
  solution.orthogonality = result.orthogonality;
  return {std::move(solution), std::move(result.right_vectors), std::move(result.left_vectors)};
}

template <Scalar T, class Space>
Solved<T, Space> solved(LinearResult<T, Space> result) {
  Solution solution = common_part(result);
  solution.orthogonalization = result.orthogonalization;
  solution.matrix_passes = result.matrix_passes;
  solution.backward_errors = result.backward_errors;
  solution.error_estimates = result.error_estimates;
  return {std::move(solution), std::move(result.solution)};
}

template <Scalar T, class Space>
Solved<T, Space> solved(LeastSquaresResult<T, Space> result) {
  Solution solution = common_part(result);
  solution.residual_norms = result.residual_norms;
  return {std::move(solution), std::move(result.solution)};
}

/// The instances of `Call`, a generic lambda without captures, one per pair of scalar and context.
template <class Call, class... Calls>
std::tuple<Calls...> instances(std::type_identity<std::tuple<Calls...>>) {
  return {static_cast<Calls>(Call{})...};
}

template <class Call>
MethodCalls calls_of(Call) {
  return instances<Call>(std::type_identity<MethodCalls>{});
}

Index wanted_pairs(const Request& request, const ProblemSizes&) { return request.nev; }
Index right_hand_sides(const Request&, const ProblemSizes& sizes) { return sizes.rhs; }

MethodKind singular_values_row() {
  return {
      .name = "singular_values",
      .solves = "A v = sigma u, an end of the spectrum",
      .suits =
          [](const Request& request, const ProblemSizes& sizes) {
            return sizes.normal_equations && is_eigensolver(request.method);
          },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return singular_block_size(singular_options(request), sizes.n, sizes.cols);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return singular_memory_bytes(singular_options(request), sizes.n, sizes.cols,
                                         scalar_size);
          },
      .result_columns = wanted_pairs,
      .both_sides = true,
      .calls = calls_of([]<Scalar T, class Ctx>(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                                const Request& request, const Monitor& monitor) {
        return solved(singular_triplets<T, Ctx>(context, problem.adjoint_pair(),
                                                singular_options(request), monitor));
      }),
  };
}

MethodKind least_squares_row() {
  return {
      .name = "least_squares",
      .solves = "min |B - A X|",
      .suits =
          [](const Request& request, const ProblemSizes& sizes) {
            return sizes.normal_equations && request.method == Method::block_cg;
          },
      .block_size = right_hand_sides,
      .memory_bytes =
          [](const Request&, const ProblemSizes& sizes, std::size_t scalar_size) {
            return least_squares_memory_bytes(sizes.n, sizes.cols, sizes.rhs, scalar_size);
          },
      .result_columns = right_hand_sides,
      .calls = calls_of([]<Scalar T, class Ctx>(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                                const Request& request, const Monitor& monitor) {
        return solved(least_squares<T, Ctx>(context, problem.least_squares_problem(),
                                            least_squares_options(request), monitor));
      }),
  };
}

MethodKind interval_row() {
  return {
      .name = "interval",
      .solves = "A x = lambda x, lambda in an interval",
      .suits =
          [](const Request& request, const ProblemSizes&) {
            return request.method == Method::block_lanczos && request.interval.has_value();
          },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return interval_block_size(interval_options(request), sizes.n);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return interval_memory_bytes(interval_options(request), sizes.n, scalar_size);
          },
      .result_columns = wanted_pairs,
      .calls = calls_of([]<Scalar T, class Ctx>(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                                const Request& request, const Monitor& monitor) {
        return solved(interval_eigenpairs<T, Ctx>(context, problem.eigenproblem(),
                                                  interval_options(request), monitor));
      }),
  };
}

MethodKind null_space_row() {
  return {
      .name = "null_space",
      .solves = "A x = 0, for a matrix whose graph shows as many null vectors as are wanted",
      .suits = all_known,
      .block_size =
          [](const Request& request, const ProblemSizes&) {
            return null_pairs_block_size(eigen_options(request));
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return null_pairs_memory_bytes(eigen_options(request), sizes.n, sizes.pencil,
                                           scalar_size);
          },
      .result_columns = wanted_pairs,
      .calls = calls_of([]<Scalar T, class Ctx>(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                                const Request& request, const Monitor&) {
        return solved(null_pairs<T, Ctx>(context, problem.eigenproblem(), eigen_options(request)));
      }),
  };
}

MethodKind lobpcg_row() {
  return {
      .name = "lobpcg",
      .solves = "A x = lambda B x, an end of the spectrum",
      .suits = [](const Request& request,
                  const ProblemSizes&) { return request.method == Method::lobpcg; },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return lobpcg_block_size(eigen_options(request), sizes.n, sizes.constraints);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return lobpcg_memory_bytes(eigen_options(request), sizes.n, sizes.constraints,
                                       sizes.pencil, scalar_size);
          },
      .result_columns = wanted_pairs,
      .calls = calls_of([]<Scalar T, class Ctx>(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                                const Request& request, const Monitor& monitor) {
        return solved(
            lobpcg<T, Ctx>(context, problem.eigenproblem(), lobpcg_options(request), monitor));
      }),
  };
}

MethodKind block_lanczos_row() {
  return {
      .name = "block_lanczos",
      .solves = "A x = lambda B x, an end of the spectrum",
      .suits = [](const Request& request,
                  const ProblemSizes&) { return request.method == Method::block_lanczos; },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return block_lanczos_shape(block_lanczos_options(request), sizes.n, sizes.pencil).block;
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return block_lanczos_memory_bytes(block_lanczos_options(request), sizes.n, sizes.pencil,
                                              scalar_size);
          },
      .result_columns = wanted_pairs,
      .calls = calls_of([]<Scalar T, class Ctx>(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                                const Request& request, const Monitor& monitor) {
        return solved(block_lanczos<T, Ctx>(context, problem.eigenproblem(),
                                            block_lanczos_options(request, problem.inner_solves()),
                                            monitor));
      }),
  };
}

MethodKind block_cg_row() {
  return {
      .name = "block_cg",
      .solves = "A X = B",
      .suits = [](const Request& request,
                  const ProblemSizes&) { return request.method == Method::block_cg; },
      .block_size = right_hand_sides,
      .memory_bytes =
          [](const Request&, const ProblemSizes& sizes, std::size_t scalar_size) {
            return block_cg_memory_bytes(sizes.n, sizes.rhs, scalar_size);
          },
      .result_columns = right_hand_sides,
      .calls = calls_of([]<Scalar T, class Ctx>(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                                const Request& request, const Monitor& monitor) {
        return solved(
            block_cg<T, Ctx>(context, problem.system(), block_cg_options(request), monitor));
      }),
  };
}

}  // namespace

const std::vector<MethodKind>& method_table() {
  static const std::vector<MethodKind> table = {
      singular_values_row(), least_squares_row(), interval_row(), null_space_row(),
      lobpcg_row(),          block_lanczos_row(), block_cg_row()};
  return table;
}

const MethodKind& method_of(const Request& request, const ProblemSizes& sizes) {
  for (const MethodKind& kind : method_table()) {
    if (kind.suits(request, sizes)) return kind;
  }
  throw InvalidArgument("no method is chosen");
}

double tolerance_of(const Request& request) noexcept {
  if (request.tolerance > 0) return request.tolerance;
  return request.precision == Precision::single ? kDefaultTolerance<float>
                                                : kDefaultTolerance<double>;
}

BlockLanczosOptions block_lanczos_options(const Request& request, bool inner_solves) {
  const LanczosFilter fallback = inner_solves ? LanczosFilter::none : LanczosFilter::automatic;
  return {eigen_options(request), request.max_basis, request.filter.value_or(fallback)};
}

}  // namespace heddle::detail
