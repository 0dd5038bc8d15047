#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// y = (I − B Y Yᵀ) A x for constraints Y n×c with YᵀBY = I. On the vectors x with YᵀBx = 0 it is
/// the operator of the constrained eigenproblem: A x − B Y μ = λ B x, with the multipliers
/// μ = YᵀA x. Where Y spans eigenvectors, μ = 0.
template <Scalar T, class Ctx>
class ConstrainedOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// `multipliers`: memory of c·b numbers for products with up to b columns. All must outlive this
  /// operator, and Y may be filled later.
  ConstrainedOperator(LinearOperator<T, Ctx>& A, const Basis<T, Space>& Y,
                      SmallMatrix<Wide<T>, Space>& multipliers)
      : LinearOperator<T, Ctx>(A.row_range(), A.column_range()),
        A_(A),
        Y_(Y),
        rank_(Y.Q.cols()),
        multipliers_(multipliers) {}

  /// Takes only the first `rank` columns of Y. The others are free for other vectors, because the
  /// given constraints were linearly dependent.
  void set_rank(Index rank) noexcept { rank_ = rank; }

  /// ‖A‖₁, to which residuals are compared.
  std::optional<double> one_norm() const override { return A_.one_norm(); }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Z) override {
    A_.apply(context, X, Z);
    if (rank_ == 0) return;
    const SmallView<Wide<T>, Space> mu = multipliers_.view(rank_, X.cols());
    gram<T>(context, Y_.Q.columns(0, rank_), Z, mu);              // Yᵀ A X          c×b
    multiply<T>(context, -1, Y_.BQ.columns(0, rank_), mu, 1, Z);  // A X − B Y μ     n×b
  }

 private:
  LinearOperator<T, Ctx>& A_;
  Basis<T, Space> Y_;
  Index rank_;
  SmallMatrix<Wide<T>, Space>& multipliers_;
};

}  // namespace heddle::detail
