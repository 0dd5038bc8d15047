#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle {

/// A rectangular matrix A and its transpose as two operators: two `SparseOperator`s, of a matrix
/// and of its `transpose`, or operators of user code. Products with a sparse matrix and its
/// transpose are equally fast only if both are stored. The operators are not owned.
template <Scalar T, class Ctx>
struct AdjointPair {
  LinearOperator<T, Ctx>* A = nullptr;             ///< m×n
  LinearOperator<T, Ctx>* A_transposed = nullptr;  ///< Aᴴ, n×m. Its values are not checked

  /// The pair (Aᴴ, A).
  AdjointPair transposed() const noexcept { return {A_transposed, A}; }

  /// The number of columns multiplied by A or by Aᴴ so far.
  Index columns_applied() const noexcept {
    return A->columns_applied() + A_transposed->columns_applied();
  }
};

/// Throws `InvalidArgument` if an operator is missing or the shapes are not those of a matrix and
/// its transpose. The message begins with `caller`.
template <Scalar T, class Ctx>
void require_adjoint_pair(const char* caller, const AdjointPair<T, Ctx>& pair);

/// The operator F = AᴴA + δ²I, n×n for an m×n A, applied as Y = Aᴴ(A X) + δ²X without forming AᴴA.
/// F is
/// symmetric positive semidefinite, and its eigenvalues are σ² + δ² for the singular values σ of A.
/// Given the transposed pair, the operator is A Aᴴ. `columns_applied` counts columns multiplied by
/// F. The operators A and Aᴴ count their own products.
template <Scalar T, class Ctx>
class NormalEquationsOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  static constexpr Index kProducts = 2;  ///< products with A or Aᴴ per product with F

  /// The operators must outlive this one. Throws `InvalidArgument` as `require_adjoint_pair` does.
  NormalEquationsOperator(Ctx& context, const AdjointPair<T, Ctx>& pair, double damp = 0);

  /// ‖A‖₁‖Aᴴ‖₁ + δ², an upper bound of ‖F‖₁, or nothing if one of the norms is not available. A
  /// criterion relative to this bound is looser than one relative to ‖AᴴA‖₁. `singular_triplets`
  /// corrects for the difference.
  std::optional<double> one_norm() const override;

  /// From now on `one_norm` gives nothing: the criterion of an eigensolver is then relative to the
  /// ‖AᴴA‖₂ that it finds at the largest end, instead of to a bound that may be far above.
  void hide_norm() noexcept { hides_norm_ = true; }

 protected:
  /// Allocates if the block is wider than all blocks before.
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;
  bool accumulate_block(Ctx& context, double alpha, ConstBlockView<T, Space> X,
                        const SpmmEpilogue<T, Space>& epilogue, BlockView<T, Space> Y) override;

 private:
  BlockView<T, Space> multiply_A(Ctx& context, ConstBlockView<T, Space> X);

  AdjointPair<T, Ctx> pair_;
  MultiVector<T, Space> AX_;  // m × the widest block so far
  double damp_;               // δ
  bool hides_norm_ = false;
  bool accumulates_ = true;  // false once Aᴴ has refused `accumulate`
};

}  // namespace heddle
