#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// y = (I − Q Qᵀ) A x for an m×n A and orthonormal Q m×k.
template <Scalar T, class Ctx>
class ProjectedOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// A and Q must outlive this operator.
  ProjectedOperator(Ctx& context, LinearOperator<T, Ctx>& A, ConstBlockView<T, Space> Q)
      : LinearOperator<T, Ctx>(A.row_range(), A.column_range()),
        A_(A),
        Q_(Q),
        QtY_(context, Q.cols(), 1) {}

 protected:
  /// Allocates if the block is wider than all blocks before.
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  LinearOperator<T, Ctx>& A_;
  ConstBlockView<T, Space> Q_;
  SmallMatrix<double, Space> QtY_;
  Index widest_ = 1;  // columns of QtY_
};

}  // namespace heddle::detail
