#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/nearest/pencil_inverse.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
PencilInverse<T, Ctx>::PencilInverse(Ctx& context, IndefiniteInverse<T, Ctx>& inverse,
                                     LinearOperator<T, Ctx>* B, Index block)
    : LinearOperator<T, Ctx>(inverse.rows(), inverse.cols()),
      inverse_(&inverse),
      B_(B),
      work_(context, inverse.rows(), block) {}

template <Scalar T, class Ctx>
void PencilInverse<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                        BlockView<T, Space> Y) {
  if (B_ == nullptr) return inverse_->apply(context, X, Y);
  const BlockView<T, Space> BX = work_.columns(0, X.cols());
  B_->apply(context, X, BX);
  inverse_->apply(context, BX, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class PencilInverse<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
