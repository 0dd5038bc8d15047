#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/workspace.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
IntervalWorkspace<T, Ctx>::IntervalWorkspace(Ctx& context, Index n, Index m, Index b)
    : X(context, n, m),
      product(context, n, b),
      recurrence(context, n, b),
      orthogonalizer(context, m, 0),
      verifier(context, n, m, false),
      dots(context, m, 1),
      weights(static_cast<std::size_t>(m)) {
  inside.reserve(static_cast<std::size_t>(m));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template struct IntervalWorkspace<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
