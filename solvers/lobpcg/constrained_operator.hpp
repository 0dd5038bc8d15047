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
                      SmallMatrix<double, Space>& multipliers)
      : LinearOperator<T, Ctx>(A.row_range(), A.column_range()),
        A_(A),
        Y_(Y),
        multipliers_(multipliers) {}

  /// ‖A‖₁, to which residuals are compared.
  std::optional<double> one_norm() const override { return A_.one_norm(); }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Z) override {
    A_.apply(context, X, Z);
    const SmallView<double, Space> mu = multipliers_.view(Y_.Q.cols(), X.cols());
    gram<T>(context, Y_.Q, Z, mu);              // Yᵀ A X          c×b
    multiply<T>(context, -1, Y_.BQ, mu, 1, Z);  // A X − B Y μ     n×b
  }

 private:
  LinearOperator<T, Ctx>& A_;
  Basis<T, Space> Y_;
  SmallMatrix<double, Space>& multipliers_;
};

}  // namespace heddle::detail
