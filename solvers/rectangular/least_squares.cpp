#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/rectangular/checks.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <heddle/solvers/rectangular/least_squares_solve.hpp>

namespace heddle {

template <Scalar T, class Ctx>
LeastSquaresResult<T, typename Ctx::Space> least_squares(Ctx& context,
                                                         const LeastSquaresProblem<T, Ctx>& problem,
                                                         const LeastSquaresOptions& options,
                                                         const Monitor& monitor) {
  detail::check_least_squares(problem, options);
  LeastSquaresOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  return detail::LeastSquaresSolve<T, Ctx>(context, problem, complete, monitor).run();
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                   \
  template LeastSquaresResult<T, typename Ctx::Space> least_squares( \
      Ctx&, const LeastSquaresProblem<T, Ctx>&, const LeastSquaresOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
