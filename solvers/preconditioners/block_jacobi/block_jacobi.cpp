#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi_setup.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <utility>

namespace heddle {
template <Scalar T, class Ctx>
BlockJacobiPreconditioner<T, Ctx>::BlockJacobiPreconditioner(Ctx& context,
                                                             DistributedCsrView<T, Space> A,
                                                             Index block_size,
                                                             const SpmmOptions& options)
    : BlockJacobiPreconditioner(context, detail::prepare_block_jacobi<T>(context, A, block_size),
                                options) {}

template <Scalar T, class Ctx>
template <std::same_as<double> U>
BlockJacobiPreconditioner<T, Ctx>::BlockJacobiPreconditioner(
    Ctx& context, DistributedCsrView<std::type_identity_t<U>, Space> A, Index block_size,
    const SpmmOptions& options)
    : BlockJacobiPreconditioner(context, detail::prepare_block_jacobi<T>(context, A, block_size),
                                options) {}

template <Scalar T, class Ctx>
BlockJacobiPreconditioner<T, Ctx>::BlockJacobiPreconditioner(
    Ctx& context, detail::BlockJacobiSetup<T, Space> setup, const SpmmOptions& options)
    : Preconditioner<T, Ctx>(setup.rows, setup.rows),
      blocks_(setup.blocks),
      largest_block_(setup.largest_block),
      inverse_(std::move(setup.inverse)),
      plan_(context, inverse_.view(), options) {
  setup.cost.stop(context);
  this->note_cost(setup.cost);
}

template <Scalar T, class Ctx>
void BlockJacobiPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                    BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  plan_.multiply(context, T{1}, X, T{0}, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockJacobiPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(Ctx)                                              \
  template BlockJacobiPreconditioner<float, Ctx>::BlockJacobiPreconditioner( \
      Ctx&, DistributedCsrView<double, Ctx::Space>, Index, const SpmmOptions&);
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
