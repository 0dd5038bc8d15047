#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/workspace.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
IntervalPairs<T, Ctx>::IntervalPairs(Ctx& context, Index n, Index pairs, Index b)
    : X(context, n, pairs), product(context, n, b), verifier(context, n, pairs, false) {
  inside.reserve(static_cast<std::size_t>(pairs));
}

template <Scalar T, class Ctx>
FilteredBasis<T, Ctx>::FilteredBasis(Ctx& context, LinearOperator<T, Ctx>& A, Index m, Index b,
                                     Index pairs, std::function<bool()> stop)
    : size(m),
      block(b),
      F(context, A, b, std::move(stop)),
      V(context, A.row_range(), m, b, false),
      ritz(m, b),
      coefficients(context, m, pairs) {}

#define HEDDLE_INSTANTIATE(T, Ctx)       \
  template struct IntervalPairs<T, Ctx>; \
  template struct FilteredBasis<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
