#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/checks.hpp>
#include <heddle/solvers/interval/solve.hpp>

namespace heddle {

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> interval_eigenpairs(Ctx& context,
                                                        const EigenProblem<T, Ctx>& problem,
                                                        const IntervalOptions& options,
                                                        const Monitor& monitor) {
  detail::check_interval(problem, options);
  IntervalOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  return detail::IntervalSolve<T, Ctx>(context, problem, complete, monitor).run();
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                  \
  template EigenResult<T, typename Ctx::Space> interval_eigenpairs( \
      Ctx&, const EigenProblem<T, Ctx>&, const IntervalOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
