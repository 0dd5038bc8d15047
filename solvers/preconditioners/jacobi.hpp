#pragma once

#include <heddle/linalg/buffer.hpp>
#include <heddle/solvers/linear_operator.hpp>

namespace heddle {

/// M⁻¹ = diag(|d_1|, …, |d_n|)⁻¹ for the diagonal d of A. A d_i that is zero or not finite is
/// replaced by the mean of the others, so that M is positive definite for every A.
template <Scalar T, class Ctx>
class JacobiPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// `diagonal`: the n diagonal entries of A in the context's memory; copied.
  JacobiPreconditioner(Ctx& context, CsrView<T, Space> A);

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  Buffer<T, Space> inverse_diagonal_;
};

}  // namespace heddle
