#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/jacobi_split.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle::detail {

/// Y = KᴴK X with K ≈ L⁻¹. With L = D + N, K x is the result of some Jacobi sweeps
/// y ← D⁻¹(x − N y) from y = D⁻¹x. Products with N and Nᴴ take the place of substitution, which has
/// to wait for earlier rows. KᴴK is positive definite for every number of sweeps, because K is
/// triangular with diagonal D⁻¹. The corrections (−D⁻¹N)ᵏD⁻¹x vanish from some k on, but may grow
/// before. Therefore the number of sweeps is the largest, up to `kMaxSweeps`, for which the
/// corrections of random vectors shrink from sweep to sweep. Source: Anzt, Chow, Dongarra, Euro-Par
/// 2015, 650 (iterative sparse triangular solves).
template <Scalar T, class Ctx>
class IteratedSolves {
 public:
  using Space = typename Ctx::Space;

  static constexpr int kMaxSweeps = 4;

  /// L is in the context's memory, with the diagonal at the end of each row, and is not needed
  /// afterwards.
  IteratedSolves(Ctx& context, CsrView<T, Space> L);

  /// Y = KᴴK X. X and Y are n×b and must not overlap. Allocates when b is larger than before.
  void solve(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  int sweeps() const noexcept { return sweeps_; }

 private:
  IteratedSolves(Ctx& context, JacobiSplit<T, Space> split);
  int shrinking_sweeps(Ctx& context, const SpmmPlan<T, Ctx>& plan);
  void iterate(Ctx& context, const SpmmPlan<T, Ctx>& plan, ConstBlockView<T, Space> X,
               BlockView<T, Space> Y);

  Buffer<T, Space> inverse_diagonal_;
  CsrMatrix<T, Space> upper_;  // D⁻¹Nᴴ
  CsrMatrix<T, Space> lower_;  // D⁻¹N
  SpmmPlan<T, Ctx> lower_plan_;
  SpmmPlan<T, Ctx> upper_plan_;
  MultiVector<T, Space> scaled_, next_;
  int sweeps_;
};

}  // namespace heddle::detail
