#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/rectangular/projected_operator.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
void ProjectedOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                            BlockView<T, Space> Y) {
  A_.apply(context, X, Y);
  if (Y.cols() > widest_) {
    widest_ = Y.cols();
    QtY_ = {context, Q_.cols(), widest_};
  }
  const SmallView<double, Space> QtY = QtY_.view(Q_.cols(), Y.cols());
  gram<T>(context, Q_, Y, QtY);             // Qᵀ A X   k×b
  multiply<T>(context, -1, Q_, QtY, 1, Y);  // Y − Q Qᵀ A X   m×b
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ProjectedOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
