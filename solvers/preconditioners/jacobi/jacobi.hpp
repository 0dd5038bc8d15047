#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>

namespace heddle {

/// Y = M⁻¹ X with M = diag(|d_1|, …, |d_n|) for the diagonal d of A. A d_i that is zero, subnormal
/// or not finite is replaced by the mean of the other |d_i| (1 if there is none), so that M is
/// positive definite for every A.
template <Scalar T, class Ctx>
class JacobiPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Computes the inverse of the diagonal. A is in the context's memory and is not needed
  /// afterwards. Throws `InvalidArgument` if A is not square. Throws `OutOfMemory`.
  JacobiPreconditioner(Ctx& context, DistributedCsrView<T, Space> A);

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  Buffer<T, Space> inverse_diagonal_;
};

}  // namespace heddle
