#pragma once

#include <functional>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <memory>
#include <utility>

namespace heddle {

/// Y = B⁻¹ X for a symmetric positive definite matrix B, by CG on each column with the Jacobi
/// preconditioner until ‖x − B y‖ ≤ 50 ε ‖x‖. With this accuracy C = B⁻¹A is self-adjoint in ⟨x, y⟩
/// = xᵀBy to working precision, as block Lanczos requires. For well conditioned matrices, such as
/// mass matrices of finite elements, a solve takes some dozens of products with B (Wathen, IMA J.
/// Numer. Anal. 7 (1987) 449).
template <Scalar T, class Ctx>
class InverseOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Keeps a pointer to B. `matrix` is the same B as a stored matrix, and is not needed afterwards.
  /// Throws `OutOfMemory`.
  InverseOperator(Ctx& context, LinearOperator<T, Ctx>& B, DistributedCsrView<T, Space> matrix);

  /// `stop` is called between the products of a solve. Once it returns true, the result of `apply`
  /// is unfinished.
  void set_stop(std::function<bool()> stop) { monitor_.stop = std::move(stop); }

  /// Whether the solve for a random column reaches ‖x − B y‖ ≤ 50 ε ‖x‖ within 1000 iterations. If
  /// not, B is too ill conditioned for this operator. Its products are then the iterates after 1000
  /// iterations. A solve that was stopped counts as one that works.
  bool works(Ctx& context);

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  const LinearResult<T, Space>& solve(Ctx& context, ConstBlockView<T, Space> X);

  LinearOperator<T, Ctx>* B_;
  std::unique_ptr<Preconditioner<T, Ctx>> jacobi_;
  BlockCgWorkspace<T, Ctx> workspace_;
  Monitor monitor_;
};

}  // namespace heddle
