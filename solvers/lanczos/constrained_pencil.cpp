#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/constraint_basis.hpp>
#include <heddle/solvers/lanczos/constrained_pencil.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
ConstrainedPencil<T, Ctx>::ConstrainedPencil(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                             IndefiniteInverse<T, Ctx>& inverse)
    : context_(context), inverse_(inverse) {
  const ConstBlockView<T, Space> given = problem.constraints;
  if (given.cols() == 0) return;
  Y_ = MultiVector<T, Space>(context, given.rows(), given.cols());
  if (problem.B != nullptr) BY_ = MultiVector<T, Space>(context, given.rows(), given.cols());
  Orthogonalizer<T, Ctx> orthogonalizer(context, given.cols(), 0);
  OrthoCounts counts;
  made_ = orthonormal_constraints<T, Ctx>(context, orthogonalizer, problem.B, given, Y_.view(),
                                          problem.B != nullptr ? BY_.view() : Y_.view(), counts);
  inverse.constrain(context, basis().BQ);
}

template <Scalar T, class Ctx>
ConstrainedPencil<T, Ctx>::~ConstrainedPencil() {
  if (rank() > 0) inverse_.constrain(context_, {});
}

template <Scalar T, class Ctx>
Basis<T, typename Ctx::Space> ConstrainedPencil<T, Ctx>::basis() const noexcept {
  const MultiVector<T, Space>& image = BY_.cols() > 0 ? BY_ : Y_;
  return {Y(), image.columns(0, rank())};
}

template <Scalar T, class Ctx>
LinearOperator<T, Ctx>* ConstrainedPencil<T, Ctx>::restricted(Ctx& context,
                                                              LinearOperator<T, Ctx>& A,
                                                              Index width) {
  if (rank() == 0) return &A;
  multipliers_ = SmallMatrix<Wide<T>, Space>(context, rank(), width);
  return &restricted_.emplace(A, basis(), multipliers_);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ConstrainedPencil<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
