#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <vector>

namespace heddle::detail {

/// F = (A − sB)⁻¹B. Its eigenvalues are θ = 1/(λ − s), and it is self-adjoint in ⟨x, y⟩ = xᵀBy.
template <Scalar T, class Ctx>
class PencilInverse final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// `inverse` and `B` (null: the identity) are kept by pointer. Blocks have up to `block` columns.
  PencilInverse(Ctx& context, IndefiniteInverse<T, Ctx>& inverse, LinearOperator<T, Ctx>* B,
                Index block);

  const IndefiniteInverse<T, Ctx>& inverse() const noexcept { return *inverse_; }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  IndefiniteInverse<T, Ctx>* inverse_;
  LinearOperator<T, Ctx>* B_;
  MultiVector<T, Space> work_;  // B X
};

/// ‖F x_j − θ_j x_j‖ in the norm of B for each column x_j of X (n×k), `theta` of k numbers. R and
/// BR are scratch memory of n rows and at least one column. `B` null: the identity, and BR is
/// unused.
template <Scalar T, class Ctx>
std::vector<double> residuals_of_inverse(Ctx& context, PencilInverse<T, Ctx>& F,
                                         LinearOperator<T, Ctx>* B,
                                         ConstBlockView<T, typename Ctx::Space> X,
                                         std::vector<double> theta,
                                         BlockView<T, typename Ctx::Space> R,
                                         BlockView<T, typename Ctx::Space> BR);

}  // namespace heddle::detail
