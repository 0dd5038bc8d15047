#pragma once

#include <heddle/linalg/csr_matrix.hpp>
#include <heddle/solvers/block_cg.hpp>
#include <heddle/solvers/preconditioners/jacobi.hpp>

namespace heddle::apps {

/// Y = B⁻¹ X for a symmetric positive definite matrix B: block CG with Jacobi's preconditioner to
/// residuals of some roundings. For well conditioned matrices, such as mass matrices.
template <Scalar T, class Ctx>
class InverseOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Keeps a pointer to B; `matrix`, the same B, is not needed afterwards. Throws `OutOfMemory`.
  InverseOperator(Ctx& context, LinearOperator<T, Ctx>& B, CsrView<T, Space> matrix);

  /// Whether a product with a random column comes out to rounding. Where it does not, B is too ill
  /// conditioned.
  bool works(Ctx& context);

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  const LinearResult<T, Space>& solve(Ctx& context, ConstBlockView<T, Space> X);

  LinearOperator<T, Ctx>* B_;
  JacobiPreconditioner<T, Ctx> jacobi_;
  BlockCgWorkspace<T, Ctx> workspace_;
};

/// Whether every entry off the diagonal of A is zero.
template <Scalar T>
bool is_diagonal(CsrView<T, HostSpace> A);

}  // namespace heddle::apps
