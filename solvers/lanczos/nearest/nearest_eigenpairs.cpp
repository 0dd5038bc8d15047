#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>

namespace heddle {
namespace {

/// Throws `InvalidArgument`, naming both sides, where the arguments do not fit together.
template <Scalar T, class Ctx>
void check_nearest(const EigenProblem<T, Ctx>& problem, const IndefiniteInverse<T, Ctx>& inverse,
                   const NearestOptions& options) {
  const detail::Require require{"nearest_eigenpairs"};
  detail::require_factored<T, Ctx>(require, problem, inverse, options);
  const Index n = problem.A->rows();
  const Index constraints = problem.constraints.cols();
  require(constraints == 0 || problem.constraints.rows() == n,
          "the constraints have {} rows, A has {}", problem.constraints.rows(), n);
  require(std::isfinite(options.sigma), "sigma must be a number, it is {}", options.sigma);
  require(options.lower <= options.sigma && options.sigma <= options.upper,
          "sigma must lie between the limits {} and {}, it is {}", options.lower, options.upper,
          options.sigma);
  const auto needs_no_count = [&](double limit) {
    return std::isinf(limit) || limit == options.sigma ||
           (limit == 0 && options.definite == Definite::A);
  };
  require(options.counts || (needs_no_count(options.lower) && needs_no_count(options.upper)),
          "the limits {} and {} need counts", options.lower, options.upper);
  require(options.nev >= 1 && options.nev <= n - constraints,
          "nev must lie between 1 and n - constraints = {}, it is {}", n - constraints,
          options.nev);
  require(options.definite == Definite::B || problem.B != nullptr, "a definite A needs a B");
  require(options.definite == Definite::B || !options.counts,
          "limits with counts do not go with a definite A");
  require(options.max_basis >= 0, "max_basis must not be negative, it is {}", options.max_basis);
}

}  // namespace

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> nearest_eigenpairs(Ctx& context,
                                                       const EigenProblem<T, Ctx>& problem,
                                                       IndefiniteInverse<T, Ctx>& inverse,
                                                       const NearestOptions& options,
                                                       const Monitor& monitor) {
  check_nearest(problem, inverse, options);
  NearestOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  return detail::NearestSolve<T, Ctx>(context, problem, {}, inverse, complete, monitor).run();
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                          \
  template EigenResult<T, typename Ctx::Space> nearest_eigenpairs(                          \
      Ctx&, const EigenProblem<T, Ctx>&, IndefiniteInverse<T, Ctx>&, const NearestOptions&, \
      const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
