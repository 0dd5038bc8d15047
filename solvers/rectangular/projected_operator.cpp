#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/rectangular/projected_operator.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
void ProjectedOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                            BlockView<T, Space> Y) {
  if (X.cols() > widest_) widen(context, X.cols());
  if (side_ == ProjectedSide::result) {
    A_.apply(context, X, Y);
    return project(context, Y, Y);  // Y − Q Qᴴ A X   m×b
  }
  const BlockView<T, Space> PX = projected_.columns(0, X.cols());
  project(context, X, PX);
  A_.apply(context, PX, Y);  // A (X − Q Qᴴ X)   m×b
}

template <Scalar T, class Ctx>
void ProjectedOperator<T, Ctx>::widen(Ctx& context, Index columns) {
  widest_ = columns;
  QtX_ = {context, Q_.cols(), columns};
  if (side_ == ProjectedSide::result) return;
  projected_ = {};
  projected_ = {context, A_.cols(), columns};
}

/// Y ← (I − Q Qᴴ) X. Y may be X.
template <Scalar T, class Ctx>
void ProjectedOperator<T, Ctx>::project(Ctx& context, ConstBlockView<T, Space> X,
                                        BlockView<T, Space> Y) {
  const SmallView<Wide<T>, Space> QtX = QtX_.view(Q_.cols(), X.cols());
  gram<T>(context, Q_, X, QtX);                // Qᴴ X   k×b
  multiply<T>(context, -1, Q_, QtX, 1, X, Y);  // X − Q Qᴴ X
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ProjectedOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
