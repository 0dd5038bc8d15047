#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/factor/triangular_solves.hpp>

namespace heddle::detail {
namespace {

/// The plan for L⁻ᴴ.
template <Scalar T, class Ctx>
TriangularPlan<T, Ctx> plan_adjoint(Ctx& context, CsrView<T, HostSpace> L) {
  HostContext host;
  return {context, adjoint(host, L).view(), Triangle::upper};
}

template <Scalar T>
TriangularPlan<T, CudaContext> plan_adjoint(CudaContext& context, CsrView<T, DeviceSpace> L) {
  return {context, adjoint(context, L).view(), Triangle::upper};
}

}  // namespace

template <Scalar T, class Ctx>
template <class From>
TriangularSolves<T, Ctx>::TriangularSolves(Ctx& context, CsrView<T, From> L)
    : lower_(context, L, Triangle::lower), upper_(plan_adjoint<T>(context, L)) {}

template <Scalar T, class Ctx>
TriangularSolves<T, Ctx>::TriangularSolves(Ctx& context, CsrView<T, HostSpace> L,
                                           CsrView<T, HostSpace> adjoint_of_L)
    : lower_(context, L, Triangle::lower), upper_(context, adjoint_of_L, Triangle::upper) {}

template <Scalar T, class Ctx>
void TriangularSolves<T, Ctx>::solve(Ctx& context, ConstBlockView<T, Space> X,
                                     BlockView<T, Space> Y) const {
  solve_lower(context, X, Y);
  solve_upper(context, Y, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx)         \
  template class TriangularSolves<T, Ctx>; \
  template TriangularSolves<T, Ctx>::TriangularSolves(Ctx&, CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#ifdef HEDDLE_HAS_CUDA
#define HEDDLE_INSTANTIATE(T)                                               \
  template TriangularSolves<T, CudaContext>::TriangularSolves(CudaContext&, \
                                                              CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#endif

}  // namespace heddle::detail
