#include <heddle/drivers/plan/method_options.hpp>
#include <heddle/drivers/solve/run_method.hpp>
#include <heddle/linalg/context/apart.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <utility>

namespace heddle::detail {
namespace {

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

/// `found` with the pairs that a count of the eigenvalues shows to be missing.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> certified(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                              const Request& request,
                                              EigenResult<T, typename Ctx::Space> found,
                                              const Monitor& monitor) {
  if (request.certify == Certify::no || !problem.has_whole_matrices()) return found;
  return heddle::certified<T, Ctx>(context, problem.eigenproblem(),
                                   problem.indefinite_inverse(context, request.factorization),
                                   certify_options(request), std::move(found), monitor);
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> sliced(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                           const Request& request, const Monitor& monitor) {
  const EigenProblem<T, Ctx> whole = problem.whole_eigenproblem();
  return sliced_eigenpairs<T, Ctx>(
      context, problem.eigenproblem(), problem.indefinite_inverse(context, request.factorization),
      sliced_options(request, problem.sizes().n), monitor, whole.A == nullptr ? nullptr : &whole);
}

/// All rows of a block that processes share, on process 0.
template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> whole_block(Ctx& context,
                                                ConstBlockView<T, typename Ctx::Space> rows) {
  HostContext beside(1);
  HostContext& host = host_of(context, beside);
  MultiVector<T, HostSpace> own(host, rows.rows(), rows.cols());
  fetch<T>(context, rows, own.view());
  return place(context, gather(*context.processes(), own, host));
}

/// Of several processes, process 0 solves. Each gets its rows of the vectors.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> nearest(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                            const Request& request, const Monitor& monitor) {
  EigenProblem<T, Ctx> whole = problem.whole_eigenproblem();
  Processes* const processes = context.processes();
  MultiVector<T, typename Ctx::Space> constraints;
  if (processes != nullptr && problem.sizes().constraints > 0) {
    constraints = whole_block<T>(context, problem.eigenproblem().constraints);
    whole.constraints = std::as_const(constraints).view();
  }
  EigenResult<T, typename Ctx::Space> result;
  if (processes == nullptr || processes->leads()) {
    const Apart<Ctx> apart(context);
    result =
        nearest_eigenpairs<T, Ctx>(context, whole.A == nullptr ? problem.eigenproblem() : whole,
                                   problem.indefinite_inverse(context, request.factorization),
                                   nearest_options(request, problem.sizes().buckling), monitor);
  }
  if (processes == nullptr) return result;
  HostContext beside(1);
  HostContext& host = host_of(context, beside);
  const RowRanges rows = ranges_of_all(*processes, problem.eigenproblem().A->row_range().local);
  const MultiVector<T, HostSpace> X = fetch(context, host, std::move(result.eigenvectors));
  result.eigenvectors = place(context, scatter<T>(*processes, host, X.view(), rows));
  return result;
}

}  // namespace

template <Scalar T, class Ctx>
Solved<T, typename Ctx::Space> run_method(Algorithm algorithm, Ctx& context,
                                          PlacedProblem<T, Ctx>& problem, const Request& request,
                                          const Monitor& monitor) {
  switch (algorithm) {
    case Algorithm::lobpcg:
      return solved(certified<T, Ctx>(
          context, problem, request,
          lobpcg<T, Ctx>(context, problem.eigenproblem(), lobpcg_options(request), monitor),
          monitor));
    case Algorithm::block_lanczos:
      return solved(certified<T, Ctx>(
          context, problem, request,
          block_lanczos<T, Ctx>(context, problem.eigenproblem(),
                                block_lanczos_options(request, problem.inner_solves()), monitor),
          monitor));
    case Algorithm::block_cg:
      return solved(
          block_cg<T, Ctx>(context, problem.system(), block_cg_options(request), monitor));
    case Algorithm::singular_values:
      return solved(singular_triplets<T, Ctx>(context, problem.adjoint_pair(),
                                              singular_options(request), monitor));
    case Algorithm::least_squares:
      return solved(least_squares<T, Ctx>(context, problem.least_squares_problem(),
                                          least_squares_options(request), monitor));
    case Algorithm::interval:
      return solved(interval_eigenpairs<T, Ctx>(context, problem.eigenproblem(),
                                                interval_options(request), monitor));
    case Algorithm::slices:
      return solved(sliced(context, problem, request, monitor));
    case Algorithm::nearest:
      return solved(nearest(context, problem, request, monitor));
    case Algorithm::null_space:
      if constexpr (RealScalar<T>) {
        return solved(null_pairs<T, Ctx>(context, problem.eigenproblem(), eigen_options(request)));
      }
      break;
  }
  throw InvalidArgument("null vectors are known of real matrices only");
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                   \
  template Solved<T, Ctx::Space> run_method(Algorithm, Ctx&, PlacedProblem<T, Ctx>&, \
                                            const Request&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
