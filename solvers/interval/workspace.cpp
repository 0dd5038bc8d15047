#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/workspace.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
IntervalPairs<T, Ctx>::IntervalPairs(Ctx& context, Index n, Index pairs, Index b)
    : X(context, n, pairs), product(context, n, b), verifier(context, n, pairs, false) {
  inside.reserve(static_cast<std::size_t>(pairs));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template struct IntervalPairs<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
