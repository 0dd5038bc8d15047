#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

namespace heddle {

template <Scalar T, class Ctx>
JacobiPreconditioner<T, Ctx>::JacobiPreconditioner(Ctx& context, DistributedCsrView<T, Space> A)
    : Preconditioner<T, Ctx>(row_range(A), column_range(A)),
      inverse_diagonal_(detail::inverse_diagonal<T>(context, A)) {}

template <Scalar T, class Ctx>
void JacobiPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                               BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const ConstBlockView<T, Space> factors(inverse_diagonal_.data(), X.rows(), 1, 1);
  scale_rows(context, factors, X, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class JacobiPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
