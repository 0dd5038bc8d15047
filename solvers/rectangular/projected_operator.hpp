#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// The side of A on which a `ProjectedOperator` projects.
enum class ProjectedSide {
  result,    ///< y = (I − Q Qᴴ) A x with Q m×k
  argument,  ///< y = A (I − Q Qᴴ) x with Q n×k
};

/// An m×n A and a projection along the orthonormal columns of Q.
template <Scalar T, class Ctx>
class ProjectedOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// A and Q must outlive this operator.
  ProjectedOperator(LinearOperator<T, Ctx>& A, ConstBlockView<T, Space> Q,
                    ProjectedSide side = ProjectedSide::result)
      : LinearOperator<T, Ctx>(A.row_range(), A.column_range()), A_(A), Q_(Q), side_(side) {}

 protected:
  /// Allocates if the block is wider than all blocks before.
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  void widen(Ctx& context, Index columns);
  void project(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  LinearOperator<T, Ctx>& A_;
  ConstBlockView<T, Space> Q_;
  ProjectedSide side_;
  SmallMatrix<Wide<T>, Space> QtX_;
  MultiVector<T, Space> projected_;  // (I − Q Qᴴ) X
  Index widest_ = 0;                 // columns of both
};

}  // namespace heddle::detail
