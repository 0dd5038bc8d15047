#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/rectangular/checks.hpp>
#include <heddle/solvers/rectangular/singular_solve.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>

namespace heddle {

template <Scalar T, class Ctx>
SingularResult<T, typename Ctx::Space> singular_triplets(Ctx& context,
                                                         const AdjointPair<T, Ctx>& pair,
                                                         const SingularOptions& options,
                                                         const Monitor& monitor) {
  detail::check_singular_triplets(pair, options);
  SingularOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  return detail::SingularSolve<T, Ctx>(context, pair, complete, monitor).run();
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                   \
  template SingularResult<T, typename Ctx::Space> singular_triplets( \
      Ctx&, const AdjointPair<T, Ctx>&, const SingularOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
