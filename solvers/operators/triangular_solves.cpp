#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/triangular_solves.hpp>

namespace heddle::detail {
namespace {

template <Scalar T, class Ctx>
TriangularPlan<T, Ctx> plan_transposed(Ctx& context, CsrView<T, HostSpace> L) {
  HostContext host;
  return {context, transpose(host, L).view(), Triangle::upper};
}

}  // namespace

template <Scalar T, class Ctx>
TriangularSolves<T, Ctx>::TriangularSolves(Ctx& context, CsrView<T, HostSpace> L)
    : lower_(context, L, Triangle::lower), upper_(plan_transposed(context, L)) {}

template <Scalar T, class Ctx>
void TriangularSolves<T, Ctx>::solve(Ctx& context, ConstBlockView<T, Space> X,
                                     BlockView<T, Space> Y) const {
  solve_lower(context, X, Y);
  solve_upper(context, Y, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class TriangularSolves<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
