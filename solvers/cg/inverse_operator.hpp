#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

namespace heddle {

/// Y = B⁻¹ X for a symmetric positive definite matrix B, by CG on each column with Jacobi's
/// preconditioner to residuals ‖x − B y‖ ≤ 50 ε ‖x‖: exact enough for C = B⁻¹A to be self-adjoint
/// in ⟨x, y⟩ = xᵀBy as far as block Lanczos can tell. For well conditioned matrices, such as mass
/// matrices of finite elements, where that takes some dozens of products with B (Wathen, IMA J.
/// Numer. Anal. 7 (1987) 449).
template <Scalar T, class Ctx>
class InverseOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Keeps a pointer to B; `matrix`, the same B, is not needed afterwards. Throws `OutOfMemory`.
  InverseOperator(Ctx& context, LinearOperator<T, Ctx>& B, CsrView<T, Space> matrix);

  /// Whether a product with a random column comes out to rounding, within 1000 iterations. Where it
  /// does not, B is too ill conditioned; products are then as good as these iterations make them.
  bool works(Ctx& context);

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  const LinearResult<T, Space>& solve(Ctx& context, ConstBlockView<T, Space> X);

  LinearOperator<T, Ctx>* B_;
  JacobiPreconditioner<T, Ctx> jacobi_;
  BlockCgWorkspace<T, Ctx> workspace_;
};

}  // namespace heddle
