#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle {

/// A rectangular matrix and its transpose, which sparse formats multiply by equally fast only if
/// both are stored: two `SparseOperator`s, of a matrix and of its `transpose`, or a user's own
/// code. Nothing is owned.
template <Scalar T, class Ctx>
struct AdjointPair {
  LinearOperator<T, Ctx>* A = nullptr;             ///< m×n
  LinearOperator<T, Ctx>* A_transposed = nullptr;  ///< Aᵀ, n×m; nothing checks its values

  /// The same for Aᵀ.
  AdjointPair transposed() const noexcept { return {A_transposed, A}; }

  /// Columns multiplied by A or by Aᵀ so far.
  Index columns_applied() const noexcept {
    return A->columns_applied() + A_transposed->columns_applied();
  }
};

/// Throws `InvalidArgument`, in the name of `caller`, if an operator is missing or the shapes are
/// not those of a matrix and its transpose.
template <Scalar T, class Ctx>
void require_adjoint_pair(const char* caller, const AdjointPair<T, Ctx>& pair);

/// F = AᵀA as products with A and Aᵀ, without forming it: symmetric, positive semidefinite, its
/// eigenvalues the squares of A's singular values. For A Aᵀ, give it the transposed pair.
/// `columns_applied` counts columns of F; each is a column multiplied by A and one by Aᵀ, which
/// these count themselves.
template <Scalar T, class Ctx>
class NormalEquationsOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  static constexpr Index kProducts = 2;  ///< columns multiplied by A or Aᵀ for a column of F

  /// The operators must outlive this one. Throws `InvalidArgument` by `require_adjoint_pair`.
  NormalEquationsOperator(Ctx& context, const AdjointPair<T, Ctx>& pair);

  /// ‖A‖₁‖Aᵀ‖₁ where both are known: an upper bound of ‖AᵀA‖₁. Criteria that measure against the
  /// norm are looser by what it exceeds that; `singular_triplets` makes up for it.
  std::optional<double> one_norm() const override;

 protected:
  /// Allocates when a block is wider than all before.
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;
  bool accumulate_block(Ctx& context, double alpha, ConstBlockView<T, Space> X, double beta,
                        BlockView<T, Space> Y) override;

 private:
  BlockView<T, Space> multiply_A(Ctx& context, ConstBlockView<T, Space> X);

  AdjointPair<T, Ctx> pair_;
  MultiVector<T, Space> AX_;  // m × the widest block so far
  bool accumulates_ = true;   // whether Aᵀ does, as far as is known
};

}  // namespace heddle
